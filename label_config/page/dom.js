/** Building elements. Text reaches the page through text nodes and attributes only, never as HTML. */

/**
 * `el("button", {class: "x", "data-y": 1, onclick: fn, disabled: false}, "text", node, null)`. Properties that are
 * functions become listeners; false, null and undefined leave an attribute out; true makes it empty.
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else setAttribute(element, name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function setAttribute(element, name, value) {
  if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value === true ? "" : value))
    element.setAttribute(name, value === true ? "" : value);
}

/** Set the text only when it differs: an unchanged node costs no layout and is not announced again. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
