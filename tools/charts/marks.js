// The parts of Observable Plot that the report draws with; nothing else goes into the bundle.
export {
  areaY, axisX, axisY, barX, barY, cell, dot, line, link, plot, pointer, rectY, ruleX, ruleY, text, tip,
} from "@observablehq/plot";
