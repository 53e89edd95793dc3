/**
 * What people type into fields, as the values that an agent's parameters want; what cannot be one is named at its field.
 */

/** @typedef {{type?: string, format?: string, title?: string, description?: string, default?: any, enum?: any[], minimum?: number, maximum?: number, minLength?: number, maxLength?: number, minItems?: number, maxItems?: number, properties?: Record<string, Schema>, required?: string[], items?: Schema}} Schema */
/** @typedef {{ok: true, value: any} | {ok: false, problem: string}} Read */

/** The fields that a form has: the names of *schema* but for the message itself, what is required first. @param {Schema | null | undefined} schema */
export function fieldsOf(schema) {
  const properties = schema?.properties ?? {};
  return Object.entries(properties)
    .filter(([name]) => name !== "message")
    .map(([name, wanted]) => ({ name, wanted, required: isRequired(schema ?? {}, name) }))
    .sort((a, b) => Number(b.required) - Number(a.required));
}

/** Without a list of what is required, which is the older form, all without a default is. @param {Schema} schema @param {string} name */
function isRequired(schema, name) {
  if (schema.required) return schema.required.includes(name);
  return schema.properties?.[name]?.default === undefined;
}

/** What kind of field *schema* is typed into. @param {Schema} schema */
export function kindOf(schema) {
  if (schema.enum) return "choice";
  switch (schema.type) {
    case "boolean":
      return "yes-or-no";
    case "integer":
    case "number":
      return "number";
    case "string":
      return (schema.maxLength ?? 0) > 200 ? "long" : "text";
    case "array":
      return schema.items?.type === "string" ? "lines" : "json";
    default:
      return "json";
  }
}

/** What a field shows for *value*. @param {Schema} schema @param {any} value */
export function typed(schema, value) {
  if (value === undefined) return "";
  switch (kindOf(schema)) {
    case "choice":
      return JSON.stringify(value);
    case "lines":
      return value.join("\n");
    case "json":
      return JSON.stringify(value);
    default:
      return String(value);
  }
}

/**
 * What *text* is as a value of *schema*; `undefined` where nothing was typed. The problem is a key of the texts.
 * @param {Schema} schema
 * @param {string} text
 * @returns {Read}
 */
export function read(schema, text) {
  const kind = kindOf(schema);
  if (text.trim() === "" && !(kind === "text" && text !== "")) return { ok: true, value: undefined };
  switch (kind) {
    case "choice":
      return { ok: true, value: JSON.parse(text) };
    case "yes-or-no":
      return { ok: true, value: text === "true" };
    case "number": {
      const value = Number(text);
      if (!Number.isFinite(value)) return { ok: false, problem: "field.number" };
      if (schema.type === "integer" && !Number.isSafeInteger(value)) return { ok: false, problem: "field.integer" };
      return { ok: true, value };
    }
    case "lines":
      return { ok: true, value: text.split("\n").filter((line) => line !== "") };
    case "json":
      try {
        return { ok: true, value: JSON.parse(text) };
      } catch {
        return { ok: false, problem: "field.json" };
      }
    default:
      return { ok: true, value: text };
  }
}

/** The name of the field that a refusal's place *at* speaks of: `input.message[0].text` is `message`. @param {string} at */
export const fieldAt = (at) => /^(?:input\.)?([^.[]+)/.exec(at)?.[1] ?? at;
