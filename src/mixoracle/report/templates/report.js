
(() => {
  "use strict";
  const graph = document.querySelector("svg.graph");
  const latents = [...graph.querySelectorAll(".latent")];
  const panels = [...document.querySelectorAll(".panel")];
  if (!latents.length) return;
  document.documentElement.classList.add("js");
  let chosen = 0;

  const related = (number) => (element) => {
    const data = element.dataset;
    const lists = [data.latent, data.ends, data.latents].filter((held) => held !== undefined);
    return lists.some((held) => held.split(" ").includes(String(number)));
  };

  const light = (test) => {
    graph.classList.toggle("lit", test !== null);
    for (const element of graph.querySelectorAll("[data-latent], [data-ends], [data-latents]")) {
      element.classList.toggle("on", test !== null && test(element));
    }
  };

  const choose = (number) => {
    chosen = number;
    for (const latent of latents) {
      latent.setAttribute("aria-pressed", String(Number(latent.dataset.latent) === number));
    }
    for (const panel of panels) panel.hidden = Number(panel.dataset.latent) !== number;
    document.getElementById("panels").scrollTop = 0;
  };

  for (const latent of latents) {
    const number = Number(latent.dataset.latent);
    latent.addEventListener("click", () => {
      choose(number);
      light(related(number));
      // Where the panel lies below the graph, it may be out of sight.
      const panel = document.getElementById(`latent-${number}`);
      if (panel.getBoundingClientRect().top > window.innerHeight - 160) panel.scrollIntoView();
    });
    latent.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(number);
      light(related(number));
    });
    latent.addEventListener("mouseenter", () => light(related(number)));
    latent.addEventListener("focus", () => light(related(number)));
    latent.addEventListener("mouseleave", () => light(null));
    latent.addEventListener("blur", () => light(null));
  }

  for (const group of graph.querySelectorAll(".group")) {
    const parents = group.dataset.latents.split(" ").filter(Boolean);
    const test = (element) =>
      element === group ||
      (element.classList.contains("latent") && parents.includes(element.dataset.latent));
    group.addEventListener("mouseenter", () => light(test));
    group.addEventListener("mouseleave", () => light(null));
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") light(null);
  });

  choose(chosen);
})();
