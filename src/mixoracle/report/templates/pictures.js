
(() => {
  "use strict";
  document.documentElement.classList.add("js");
  const data = JSON.parse(document.getElementById("numbers").textContent);
  const symbols = ["circle", "square", "triangle", "diamond", "star", "cross", "wye", "times"];
  // Consecutive multiples of the golden ratio fall evenly into the unit interval.
  const golden = 0.618034;
  const most = 40;
  // Points of hundreds of pictures make a page that no printer takes; their curves are enough.
  const mostPrinted = 60;
  const chosen = { latent: 0, state: null, units: new Map(), all: new Set(), bare: false };
  const faint = 0.12;

  const number = (value) =>
    value === null ? "–" : String(Number(value.toPrecision(4))).replace("-", "−");
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const symbol = (state) => symbols[state % symbols.length];
  const shown = (latent, state) =>
    chosen.state === null || chosen.latent !== latent || chosen.state === state;
  const range = (n) => [...Array(n).keys()];
  const each = (selector, act) => document.querySelectorAll(selector).forEach(act);

  const sampleTitle = (place, latent) => {
    const { rows, names, states, probabilities } = data.sample;
    const lines = [names ? names[place] : `case ${rows[place]}`];
    data.causes.forEach((cause, j) => {
      const p = probabilities ? ` (probability ${probabilities[place][j].toFixed(2)})` : "";
      if (latent === null || j === latent || data.causes.length < 4) {
        lines.push(`${cause.name}: ${cause.states[states[place][j]]}${p}`);
      }
    });
    return lines.join("\n");
  };

  const finish = (element, options) => {
    const drawn = Plot.plot({ ...options, style: { fontSize: "12px" } });
    const svg = drawn.tagName === "svg" ? drawn : drawn.querySelector("svg");
    // Its rules stand in the style sheet of the page, which is all that the policy allows.
    drawn.querySelectorAll("style").forEach((style) => style.remove());
    svg.setAttribute("role", "img");
    element.replaceChildren(drawn);
  };

  const label = (text, room) => (text.length > room ? `${text.slice(0, room - 1)}…` : text);

  const profile = (element, width) => {
    const latent = Number(element.dataset.latent);
    const cause = data.causes[latent];
    const lines = chosen.all.has(latent) ? cause.profile : cause.profile.slice(0, most);
    const shares = lines.every((line) => line.share);
    const units = chosen.units.get(latent) ?? shares;
    const own = units && !shares;
    const letters = Math.min(Math.max(...lines.map((line) => line.title.length), 4), width < 480 ? 16 : 30);
    const points = [];
    lines.forEach((line, at) => {
      const [means, lows, highs] = units ? line.units : line.scaled;
      const held = [...means, ...lows, ...highs].filter((value) => value !== null);
      const [low, high] = [Math.min(...held), Math.max(...held)];
      // In units of its own, each line has a scale of its own; the figures stand beside the points.
      const place = (value) => (value === null ? null : own ? (value - low) / (high - low || 1) : value);
      means.forEach((mean, state) => {
        if (mean === null) return;
        const written = line.share ? percent(line.units[0][state]) : number(line.units[0][state]);
        const ends = [line.units[1][state], line.units[2][state]];
        const between = ends.map((end) => (line.share && end !== null ? percent(end) : number(end)));
        points.push({
          at, state, x: place(mean), low: place(lows[state]), high: place(highs[state]), written,
          title: `${line.title}\n${cause.states[state]}: ${written}\n95 % interval ${between.join(" to ")}`,
        });
      });
    });
    const marks = [];
    if (!own && !shares) marks.push(Plot.ruleX([0], { strokeOpacity: 0.35 }));
    marks.push(Plot.ruleY(range(lines.length), { strokeOpacity: 0.08 }));
    cause.states.forEach((_, state) => {
      const mine = points.filter((point) => point.state === state);
      const opacity = shown(latent, state) ? 1 : faint;
      const stroke = cause.colours[state];
      marks.push(
        Plot.line(mine, { x: "x", y: "at", stroke, strokeOpacity: 0.32 * opacity, strokeWidth: 1.2 }),
        Plot.link(mine.filter((p) => p.low !== null), {
          x1: "low", x2: "high", y1: "at", y2: "at", stroke, strokeWidth: 3, strokeOpacity: 0.6 * opacity,
        }),
        Plot.dot(mine, { x: "x", y: "at", fill: stroke, symbol: symbol(state), r: 4.2, fillOpacity: opacity }),
      );
    });
    const visible = points.filter((point) => shown(latent, point.state));
    if (own) {
      const written = [];
      for (const point of [...visible].sort((p, q) => p.at - q.at || p.x - q.x)) {
        const last = written[written.length - 1];
        if (!last || last.at !== point.at || point.x - last.x > 70 / width) written.push(point);
      }
      marks.push(Plot.text(written, { x: "x", y: "at", text: "written", dy: -10, fontSize: 11 }));
    }
    marks.push(Plot.tip(visible, Plot.pointer({ x: "x", y: "at", title: "title", maxRadius: 30 })));
    finish(element, {
      width,
      height: 56 + lines.length * (own ? 34 : 24),
      marginLeft: 20 + letters * 7,
      marginRight: 30,
      marginTop: own ? 20 : 14,
      marginBottom: 40,
      ariaLabel: `Profile of ${cause.name}: the mean of each measurement in each state; the numbers are in the table below`,
      x: {
        label: own ? null : shares ? "share of the cases in a state" : "standard deviations from the mean of all cases",
        labelAnchor: "center", labelArrow: "none",
        ...(own ? { axis: null, domain: [-0.05, 1.05] } : { grid: true, ticks: width < 480 ? 4 : 8 }),
        ...(shares ? { domain: [0, 1], tickFormat: (x) => `${Math.round(100 * x)} %` } : {}),
      },
      y: {
        type: "point", domain: range(lines.length), label: null, tickSize: 0, padding: 0.5,
        tickFormat: (at) => label(lines[at].title, letters),
      },
      marks,
    });
  };

  const means = (latent, observed) => {
    const cause = latent === null ? null : data.causes[latent];
    if (!cause) return "";
    return cause.profile
      .filter((line) => line.observed === observed)
      .slice(0, 6)
      .map((line) => {
        const held = line.units[0].map((value, state) =>
          `${line.share ? percent(value ?? 0) : number(value)} in ${cause.states[state]}`);
        return `${line.title}: ${held.join(", ")}`;
      })
      .join("; ");
  };

  const distribution = (element, width) => {
    const latent = element.dataset.latent === "" ? null : Number(element.dataset.latent);
    const observed = Number(element.dataset.observed);
    const measurement = data.measurements[observed];
    const cause = latent === null
      ? { states: ["all cases"], colours: ["var(--muted)"], name: "" }
      : data.causes[latent];
    const shape = data.shapes[`${observed} ${latent === null ? "None" : latent}`];
    const what = latent === null ? measurement.name : `${measurement.name} by state of ${cause.name}`;
    const options = {
      width,
      height: Math.round(Math.min(220, Math.max(170, 0.66 * width))),
      marginLeft: 46, marginRight: 14, marginTop: 12, marginBottom: 36,
      ariaLabel: `Distribution of ${what}. ${means(latent, observed)}`,
    };
    const marks = shape ? shapeMarks(shape, cause, latent, options) : [];
    const sampled = chosen.bare && shape ? [] : measurement.x ?? [];
    const points = sampled.map((x, k) => {
      const place = measurement.places ? measurement.places[k] : k;
      const state = latent === null ? 0 : data.sample.states[place][latent];
      const y = measurement.y ? measurement.y[k] : -shape.top * (0.05 + 0.11 * ((k * golden) % 1));
      return { x, y, state, title: sampleTitle(place, latent) };
    });
    const visible = points.filter((point) => shown(latent, point.state));
    cause.states.forEach((_, state) => {
      marks.push(Plot.dot(visible.filter((p) => p.state === state), {
        x: "x", y: "y", fill: cause.colours[state], fillOpacity: 0.7,
        symbol: symbol(state), r: shape ? 1.8 : 2.6, clip: true,
      }));
    });
    if (measurement.y) {
      options.x = { label: measurement.axes[0], labelAnchor: "center", labelArrow: "none", ticks: 5, domain: span(measurement.x) };
      options.y = { label: measurement.axes[1], labelArrow: "none", ticks: 5, domain: span(measurement.y) };
      options.marginTop = 24;
    }
    if (visible.length) {
      marks.push(Plot.tip(visible, Plot.pointer({ x: "x", y: "y", title: "title", maxRadius: 12 })));
    }
    finish(element, { ...options, marks });
  };

  const span = (values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = 0.05 * (high - low || 1);
    return [low - room, high + room];
  };

  // As many ticks as have room for their numbers.
  const fewTicks = (ends, width) => {
    const letters = Math.max(...ends.map((end) => Math.round(end).toLocaleString("en").length), 3);
    return Math.max(2, Math.min(6, Math.floor((width - 60) / (18 * letters))));
  };

  const shapeMarks = (shape, cause, latent, options) => {
    const { kind, heights } = shape;
    const top = Math.max(...heights.flat(), 1e-300);
    shape.top = top;
    const states = range(heights.length).filter((state) => shown(latent, state));
    if (kind === "density") {
      const [low, high] = shape.at;
      options.x = { domain: shape.at, label: null, ticks: fewTicks(shape.at, options.width) };
      options.y = { domain: [-0.18 * top, 1.05 * top], label: "density", labelArrow: "none", ticks: 4, tickFormat: (y) => (y < 0 ? "" : number(y)) };
      options.marginTop = 24;
      return states.flatMap((state) => {
        const curve = heights[state].map((y, k) => ({ x: low + ((high - low) * k) / (heights[state].length - 1), y }));
        const look = { x: "x", y: "y", curve: "natural" };
        return [
          Plot.areaY(curve, { ...look, fill: cause.colours[state], fillOpacity: 0.22 }),
          Plot.line(curve, { ...look, stroke: cause.colours[state], strokeWidth: 1.8, strokeDasharray: state % 2 ? "6 2.5" : null }),
        ];
      });
    }
    const bars = [];
    const n = heights.length;
    heights[0].forEach((_, bin) => {
      const [start, end] = kind === "levels" ? [bin - 0.42, bin + 0.42] : [shape.at[bin], shape.at[bin + 1]];
      const breadth = (0.9 * (end - start)) / n;
      const name = kind === "levels" ? shape.levels[bin] : end - start === 1 ? `${start}` : `${start} to ${end - 1}`;
      for (const state of states) {
        const left = start + 0.05 * (end - start) + state * breadth;
        const share = heights[state][bin];
        bars.push({ x1: left, x2: left + breadth, y: share, state, title: `${name}\n${cause.states[state]}: ${percent(share)} of its cases` });
      }
    });
    options.y = { domain: [0, 1.05 * top], label: latent === null ? "share of cases" : "share of a state’s cases", labelArrow: "none", ticks: 4, tickFormat: (y) => `${Number((100 * y).toPrecision(2))} %` };
    options.marginTop = 24;
    if (kind === "levels") {
      const room = Math.max(3, Math.floor((options.width - 60) / heights[0].length / 6.5));
      options.x = { domain: [-0.5, heights[0].length - 0.5], ticks: range(heights[0].length), tickFormat: (at) => label(shape.levels[at] ?? "", room), label: null, tickSize: 0 };
    } else {
      options.x = { domain: [shape.at[0], shape.at[shape.at.length - 1]], label: "count", labelAnchor: "center", labelArrow: "none", ticks: 6 };
    }
    return [
      ...states.map((state) =>
        Plot.rectY(bars.filter((bar) => bar.state === state), { x1: "x1", x2: "x2", y: "y", fill: cause.colours[state], inset: 0 })),
      Plot.ruleY([0]),
      Plot.tip(bars, Plot.pointer({ x: (bar) => (bar.x1 + bar.x2) / 2, y: "y", title: "title", maxRadius: 40 })),
    ];
  };

  const certainty = (element, width) => {
    const latent = Number(element.dataset.latent);
    const cause = data.causes[latent];
    const bars = [];
    const totals = [];
    let first = data.bins - 1;
    range(data.bins).forEach((bin) => {
      let from = 0;
      cause.states.forEach((name, state) => {
        const count = shown(latent, state) ? cause.certainty[state][bin] : 0;
        if (count) bars.push({ x1: bin / data.bins, x2: (bin + 1) / data.bins, y1: from, y2: from + count, state, title: `probability ${(bin / data.bins).toFixed(2)} to ${((bin + 1) / data.bins).toFixed(2)}\n${name}: ${count} cases` });
        from += count;
      });
      if (from) {
        first = Math.min(first, bin);
        totals.push({ x: (bin + 0.5) / data.bins, y: from, text: from.toLocaleString("en") });
      }
    });
    const start = Math.min(first, data.bins - 4) / data.bins;
    finish(element, {
      width, height: 200, marginLeft: 56, marginTop: 26, marginBottom: 38,
      ariaLabel: `How certain the states of ${cause.name} are: the number of cases by the probability of their state. ${totals.map((t) => `${t.text} near ${t.x.toFixed(2)}`).join(", ")}`,
      x: { domain: [start, 1], label: "probability of the state", labelAnchor: "center", labelArrow: "none", ticks: 6 },
      y: { label: "cases", labelArrow: "none", ticks: 4, domain: [0, 1.1 * Math.max(1, ...totals.map((t) => t.y))] },
      marks: [
        ...cause.states.map((_, state) => Plot.rectY(bars.filter((bar) => bar.state === state), { x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: cause.colours[state], insetLeft: 0.5, insetRight: 0.5 })),
        Plot.text(totals, { x: "x", y: "y", text: "text", dy: -8, fontSize: 11 }),
        Plot.ruleY([0]),
        Plot.tip(bars, Plot.pointer({ x: (b) => (b.x1 + b.x2) / 2, y: (b) => (b.y1 + b.y2) / 2, title: "title", maxRadius: 40 })),
      ],
    });
  };

  const strip = (element, width) => {
    const { step, counts } = data.strip;
    const runs = counts[0].length;
    const letters = Math.min(Math.max(...data.causes.map((cause) => cause.name.length), 2), width < 480 ? 10 : 24);
    const blocks = [];
    counts.forEach((rows, latent) => {
      const stretches = [];
      rows.forEach((held, run) => {
        const last = stretches[stretches.length - 1];
        if (last && last.held.every((count, state) => count === held[state])) last.end = run + 1;
        else stretches.push({ held, start: run, end: run + 1 });
      });
      for (const { held, start, end } of stretches) {
        const total = held.reduce((sum, count) => sum + count, 0);
        let from = 0;
        held.forEach((count, state) => {
          if (!count) return;
          blocks.push({ latent, state, x1: start * step, x2: Math.min(end * step, data.cases), y1: latent + 0.1 + (0.8 * from) / total, y2: latent + 0.1 + (0.8 * (from + count)) / total });
          from += count;
        });
      }
    });
    blocks.forEach((block) => {
      const cause = data.causes[block.latent];
      const rows = block.x2 - block.x1 === 1 ? `case ${block.x1}` : `cases ${block.x1} to ${block.x2 - 1}`;
      block.title = `${rows}\n${cause.name}: ${cause.states[block.state]}`;
    });
    finish(element, {
      width, height: 50 + 44 * counts.length,
      marginLeft: 20 + letters * 7, marginTop: 8, marginBottom: 38, marginRight: 20,
      ariaLabel: `States of ${data.causes.length} hidden causes in the order of ${data.cases} cases, in ${runs} runs of ${step}`,
      x: { domain: [0, data.cases], label: "case", labelAnchor: "center", labelArrow: "none", ticks: width < 480 ? 4 : 8 },
      y: { domain: [counts.length, 0], label: null, tickSize: 0, ticks: range(counts.length).map((k) => k + 0.5), tickFormat: (at) => label(data.causes[Math.floor(at)].name, letters) },
      marks: [
        ...data.causes.flatMap((cause, latent) => cause.states.map((_, state) =>
          Plot.rectY(blocks.filter((block) => block.latent === latent && block.state === state), {
            x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: cause.colours[state], inset: 0,
            fillOpacity: shown(latent, state) ? 1 : faint,
          }))),
        Plot.tip(blocks, Plot.pointer({ x: (b) => (b.x1 + b.x2) / 2, y: (b) => (b.y1 + b.y2) / 2, title: "title", maxRadius: 30 })),
      ],
    });
  };

  const heat = (element, width) => {
    const [first, second, given] = ["first", "second", "given"].map((name) => document.getElementById(`heat-${name}`).value);
    const [a, b] = [Number(first), Number(second)];
    const [one, two] = [data.causes[a], data.causes[b]];
    if (a === b) {
      element.textContent = "Choose two different hidden causes.";
      return;
    }
    const table = data.joint[`${Math.min(a, b)} ${Math.max(a, b)}`];
    const p = (i, j) => (a < b ? table[i][j] : table[j][i]);
    const sum = (values) => values.reduce((total, value) => total + value, 0) || 1;
    const across = range(one.states.length);
    const down = range(two.states.length);
    const value = (i, j) =>
      given === "first" ? p(i, j) / sum(down.map((k) => p(i, k)))
        : given === "second" ? p(i, j) / sum(across.map((k) => p(k, j))) : p(i, j);
    const cells = across.flatMap((i) => down.map((j) => ({ i, j, p: value(i, j) })));
    const top = Math.max(...cells.map((cell) => cell.p), 1e-12);
    const words = given === "first" ? `probability of ${two.name} given ${one.name}` : given === "second" ? `probability of ${one.name} given ${two.name}` : "joint probability";
    cells.forEach((cell) => {
      cell.title = `${one.name}: ${one.states[cell.i]}\n${two.name}: ${two.states[cell.j]}\n${words} ${cell.p.toFixed(4)}`;
      cell.strength = (shown(a, cell.i) && shown(b, cell.j) ? 1 : 0.25) * (0.05 + (0.5 * cell.p) / top);
    });
    const letters = Math.min(Math.max(...two.states.map((state) => state.length)), 14);
    finish(element, {
      width: Math.min(width, 120 + letters * 7 + 92 * across.length),
      height: 74 + 46 * down.length,
      marginLeft: 34 + letters * 7, marginTop: 54, marginBottom: 8,
      ariaLabel: `Heat map, ${words}: ${cells.map((cell) => `${one.states[cell.i]} and ${two.states[cell.j]} ${cell.p.toFixed(3)}`).join(", ")}`,
      x: { axis: "top", domain: across, label: one.name, labelAnchor: "center", labelArrow: "none", tickSize: 0, tickFormat: (i) => label(one.states[i], 12) },
      y: { domain: down, label: two.name, labelArrow: "none", tickSize: 0, tickFormat: (j) => label(two.states[j], letters) },
      marks: [
        Plot.cell(cells, { x: "i", y: "j", fill: "var(--accent)", fillOpacity: "strength", inset: 1, rx: 4 }),
        Plot.text(cells, { x: "i", y: "j", text: (cell) => cell.p.toFixed(3), fontSize: 12.5 }),
        Plot.tip(cells, Plot.pointer({ x: "i", y: "j", title: "title", maxRadius: 60 })),
      ],
      opacity: { type: "identity" },
    });
  };

  const path = (element, width) => {
    // A resolution may exceed the number of cases; what the cases are worth at it does not.
    const worth = (rows) => rows == null ? data.cases : data.cases * rows / (data.cases + rows);
    const steps = data.path.map((step, at) => ({
      ...step, at, high: worth(step.finest), low: worth(step.coarsest),
      name: step.sizes.length ? `${step.sizes.join(" × ")} states` : "no hidden cause",
    }));
    const low = Math.min(...steps.map((step) => step.low)) / 1.5;
    const letters = Math.min(Math.max(...steps.map((step) => step.name.length)), width < 480 ? 16 : 34);
    const look = { x1: (d) => d.low / 1.12, x2: (d) => d.high * 1.12, y1: "at", y2: "at", stroke: "var(--accent)", strokeLinecap: "round" };
    finish(element, {
      width, height: 60 + 34 * steps.length, marginLeft: 24 + letters * 7, marginRight: 30, marginTop: 12, marginBottom: 42,
      ariaLabel: `Answers over resolutions: ${steps.map((step) => `${step.name}${step.chosen ? " (taken)" : ""}`).join(", ")}`,
      x: { type: "log", domain: [low, data.cases * 1.3], label: "rows that the evidence is worth", labelAnchor: "center", labelArrow: "none", ticks: width < 480 ? 3 : 6, tickFormat: (rows) => rows.toLocaleString("en"), grid: true },
      y: { type: "point", domain: range(steps.length), label: null, tickSize: 0, tickFormat: (at) => label(steps[at].name, letters) },
      marks: [
        Plot.link(steps.filter((step) => !step.chosen), { ...look, strokeWidth: 5, strokeOpacity: 0.45 }),
        Plot.link(steps.filter((step) => step.chosen), { ...look, strokeWidth: 11 }),
        Plot.text(steps.filter((step) => step.chosen), { x: (d) => Math.sqrt(d.low * d.high), y: "at", text: () => "taken", dy: -14, fontSize: 11 }),
      ],
    });
  };

  const pictures = { profile, distribution, certainty, strip, heat, path };
  const render = (element, width = element.clientWidth) => {
    if (width < 40) return;
    const key = [width, chosen.state === null ? "" : `${chosen.latent} ${chosen.state}`, element.dataset.key ?? "", chosen.bare].join("/");
    if (element.dataset.drawn === key) return;
    element.dataset.drawn = key;
    pictures[element.dataset.picture](element, width);
  };

  const seen = new Set();
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) {
        seen.add(target);
        render(target);
      } else seen.delete(target);
    }
  }, { rootMargin: "300px" });
  each("[data-picture]", (element) => near.observe(element));
  const refresh = () => {
    const widths = new Map([...seen].map((element) => [element, element.clientWidth]));
    widths.forEach((width, element) => render(element, width));
  };

  const choose = (latent, state) => {
    chosen.latent = latent;
    chosen.state = state;
    each(".cause", (block) => { block.hidden = Number(block.dataset.latent) !== latent; });
    each(".pick-cause", (button) => button.setAttribute("aria-pressed", String(Number(button.dataset.latent) === latent)));
    each(".pick-states", (group) => { group.hidden = Number(group.dataset.latent) !== latent; });
    each(".pick-state", (button) => {
      const own = button.dataset.state === "" ? null : Number(button.dataset.state);
      button.setAttribute("aria-pressed", String(own === state));
    });
    each(".least tbody tr", (row) => { row.hidden = state !== null && Number(row.dataset.state) !== state; });
    refresh();
  };
  each(".pick-cause", (button) => button.addEventListener("click", () => choose(Number(button.dataset.latent), null)));
  each(".pick-state", (button) => button.addEventListener("click", () =>
    choose(chosen.latent, button.dataset.state === "" ? null : Number(button.dataset.state))));
  // A cause that is chosen in the graph is the one to be pictured.
  each("svg.graph .latent", (latent) => {
    const follow = () => {
      const now = Number(latent.dataset.latent);
      if (now !== chosen.latent) choose(now, null);
    };
    latent.addEventListener("click", follow);
    latent.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") follow();
    });
  });

  const redraw = (element) => {
    element.dataset.key = String(Number(element.dataset.key ?? 0) + 1);
    render(element);
  };
  each(".pick-units", (button) => button.addEventListener("click", () => {
    const latent = Number(button.dataset.latent);
    chosen.units.set(latent, button.dataset.units === "yes");
    each(`.pick-units[data-latent="${latent}"]`, (other) => other.setAttribute("aria-pressed", String(other === button)));
    redraw(document.querySelector(`[data-picture="profile"][data-latent="${latent}"]`));
  }));
  each(".pick-all", (button) => button.addEventListener("click", () => {
    chosen.all.add(Number(button.dataset.latent));
    button.hidden = true;
    redraw(document.querySelector(`[data-picture="profile"][data-latent="${button.dataset.latent}"]`));
  }));
  each("#heat-first, #heat-second, #heat-given", (select) => select.addEventListener("change", () =>
    redraw(document.querySelector('[data-picture="heat"]'))));

  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 120);
  });

  // On paper nothing is folded, and every picture is there, of all causes and all states.
  const unfold = () => {
    choose(chosen.latent, null);
    each("details:not([open])", (held) => {
      held.open = true;
      held.dataset.unfolded = "";
    });
    chosen.bare = document.querySelectorAll(".tile").length > mostPrinted;
    // All widths are read before anything is drawn: each drawing would lay out the page anew.
    const widths = new Map();
    each("[data-picture]", (element) => widths.set(element, element.clientWidth || Number(element.dataset.width)));
    widths.forEach((width, element) => render(element, width));
    chosen.bare = false;
  };
  const fold = () => each("details[data-unfolded]", (held) => {
    held.open = false;
    delete held.dataset.unfolded;
  });
  window.addEventListener("beforeprint", unfold);
  window.addEventListener("afterprint", fold);
  matchMedia("print").addEventListener("change", (event) => (event.matches ? unfold() : fold()));

  if (data.causes.length) choose(0, null);
})();
