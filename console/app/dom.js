/**
 * Elements are made here and nowhere else: of text and of attributes. Markup in a string stays text.
 */

/** @typedef {Node | string | number | null | undefined | false | any[]} Child */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element *name* with *attributes* and *children*. `onclick` and its like listen; `true` is an attribute without
 * a value, `false`, null and undefined are none; `vars` are custom properties of its style.
 * @param {string} name
 * @param {Record<string, any> | null} [attributes]
 * @param {...Child} children
 * @returns {any}
 */
export function h(name, attributes, ...children) {
  const element = document.createElement(name);
  dress(element, attributes ?? {});
  append(element, children);
  return element;
}

/**
 * The same, of a drawing.
 * @param {string} name
 * @param {Record<string, any> | null} [attributes]
 * @param {...Child} children
 */
function svg(name, attributes, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, name));
  dress(element, attributes ?? {});
  append(element, children);
  return element;
}

/** @param {HTMLElement | SVGElement} element @param {Record<string, any>} attributes */
function dress(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      if (value) element.addEventListener(name.slice(2), value);
    } else if (name === "vars") {
      for (const [variable, number] of Object.entries(value)) element.style.setProperty(variable, String(number));
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/** @param {Element} element @param {Child[]} children */
function append(element, children) {
  for (const child of /** @type {Child[]} */ (children.flat(9))) {
    if (child !== false && child !== null && child !== undefined)
      element.append(child instanceof Node ? child : String(child));
  }
}

/** Put *children* in place of whatever *element* holds. @param {Element} element @param {...Child} children */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/**
 * Have *list* hold an element for each of *items*, in their order. What stays keeps its element, its focus and its
 * place on the screen; an item whose *mark* is as before is not drawn again.
 * @template T
 * @param {Element & {shown?: Map<string, {element: Element, mark: string}>}} list
 * @param {T[]} items
 * @param {{key: (item: T) => string, mark: (item: T) => string, draw: (item: T) => Element}} how
 */
export function keep(list, items, { key, mark, draw }) {
  const before = list.shown ?? new Map();
  const after = new Map();
  for (const item of items) {
    const name = key(item);
    const now = mark(item);
    const held = before.get(name);
    after.set(name, held && held.mark === now ? held : { element: draw(item), mark: now });
  }
  let refocused = null;
  for (const [name, { element }] of before) {
    const now = after.get(name)?.element;
    if (now === element) continue;
    if (element.contains(document.activeElement)) refocused = now;
    element.remove();
  }
  let place = list.firstElementChild;
  for (const { element } of after.values()) {
    if (element === place) place = place?.nextElementSibling ?? null;
    else list.insertBefore(element, place);
  }
  list.shown = after;
  /** @type {HTMLElement | null | undefined} */ (refocused?.querySelector("a, button, textarea"))?.focus({
    preventScroll: true,
  });
}

const PATHS = {
  alert: ["M12 8v5", "M12 16.5v.01", "M12 3l9.5 17h-19z"],
  arrow: ["M12 19V5", "M6 11l6-6 6 6"],
  back: ["M15 5l-7 7 7 7"],
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  checks: ["M2.5 12.5L7 17l9-9.5", "M11.5 16.5l.5.5 9.5-9.5"],
  clip: ["M20 11.5l-8.2 8.2a5 5 0 01-7.1-7.1l8.6-8.6a3.3 3.3 0 014.7 4.7l-8.5 8.5a1.6 1.6 0 01-2.3-2.3l7.6-7.6"],
  clock: ["M12 7v5l3 2", "M12 3a9 9 0 100 18 9 9 0 000-18z"],
  close: ["M6 6l12 12", "M18 6L6 18"],
  down: ["M12 4v11", "M7 10.5l5 5 5-5", "M5 20h14"],
  file: ["M13.5 3H6.5v18h11V7z", "M13.5 3v4h4"],
  inbox: ["M3.5 13h5l1.5 3h4l1.5-3h5", "M6 5h12l2.5 8v6h-17v-6z"],
  key: ["M8.5 11a4.5 4.5 0 100 9 4.5 4.5 0 000-9z", "M12 12l8-8", "M16 8l3 3"],
  list: ["M9 6h11", "M9 12h11", "M9 18h11", "M4.5 6v.01", "M4.5 12v.01", "M4.5 18v.01"],
  out: ["M14 5h5v5", "M19 5l-8 8", "M11 6H5v13h13v-6"],
  plus: ["M12 5v14", "M5 12h14"],
  review: ["M12 3l8 3v6c0 5-3.5 8-8 9-4.500-1-8-4-8-9V6z", "M8.500 12l2.500 2.500 4.500-5"],
};

/** A drawing that says nothing by itself. @param {keyof typeof PATHS} name */
export function icon(name) {
  return svg(
    "svg",
    { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
    PATHS[name].map((d) => svg("path", { d })),
  );
}
