// Elements of the document.

/** Namespace of SVG elements. */
export const SVG = "http://www.w3.org/2000/svg";

/** The element with an id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Sets attributes that are not undefined and appends children; strings become text nodes, never markup. */
function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** Creates an SVG element. */
export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

/** Creates an HTML element. */
export function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** True if a key belongs to the focused field: all keys in text fields, arrows in sliders. */
export function isForField({ target, key }) {
  if (target.matches("input[type=range]")) return key.length > 1;
  return target.matches("select, textarea, input:not([type=radio], [type=checkbox])");
}

/** Saves a drawing as an SVG file. */
export function saveDrawing(element, name) {
  for (const word of element.querySelectorAll(".word")) word.removeAttribute("tabindex");
  const file = new Blob([new XMLSerializer().serializeToString(element)], { type: "image/svg+xml" });
  const link = html("a", { href: URL.createObjectURL(file), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
