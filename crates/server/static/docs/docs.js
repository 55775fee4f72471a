"use strict";
// Renders /openapi.json: endpoints by tag, schemas, error codes. Everything is made with
// createElement and textContent, so nothing in the document can become markup.

const METHODS = ["get", "post", "put", "patch", "delete"];

function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(options)) {
    if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function prose(text) {
  const parts = (text || "").split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part));
  return element("span", {}, ...parts);
}

function nameOf(reference) {
  return decodeURIComponent(reference.split("/").pop());
}

function typeOf(schema) {
  if (schema === true || schema === undefined) return "anything";
  if (schema.$ref) {
    const name = nameOf(schema.$ref);
    return element("a", { href: "#schema-" + name }, name);
  }
  const several = schema.anyOf || schema.oneOf;
  if (several) {
    const labels = several.filter((s) => s.type !== "null");
    if (labels.length > 0 && labels.every((s) => s.const !== undefined)) return labels.map((s) => s.const).join(" | ");
    if (labels.length === 1) return typeOf(labels[0]);
    return "one of " + labels.length + " forms";
  }
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const types = Array.isArray(schema.type) ? schema.type.filter((t) => t !== "null") : [schema.type || "anything"];
  if (types[0] === "array") return element("span", {}, "list of ", typeOf(schema.items));
  if (types[0] === "object" && schema.additionalProperties && schema.additionalProperties !== true)
    return element("span", {}, "map of ", typeOf(schema.additionalProperties));
  return types.join(" | ") + (schema.format ? " (" + schema.format + ")" : "");
}

function table(head, rows) {
  return element("table", {},
    element("thead", {}, element("tr", {}, ...head.map((h) => element("th", { scope: "col" }, h)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell))))));
}

function properties(schema) {
  const required = schema.required || [];
  return Object.entries(schema.properties || {}).map(([name, property]) => [
    element("code", {}, name + (required.includes(name) ? "" : "?")), typeOf(property), prose(property.description)]);
}

function roleText(access) {
  if (access === "public") return "anybody";
  if (access === "logged-in") return "anybody logged in";
  const [scope, role] = access.split(":");
  return scope === "global" ? role + " of the installation" : role + " in the project";
}

function endpoint(path, method, operation) {
  const role = roleText(operation["x-hostler-access"]);
  const parts = [element("p", { class: "summary" }, prose(operation.summary))];
  parts.push(element("p", {}, "Needs: " + role + ". Operation ", element("code", {}, operation.operationId), "."));
  if (operation.parameters) {
    parts.push(element("h3", {}, "Parameters"), table(["name", "in", "type", "meaning"], operation.parameters.map((p) => [
      element("code", {}, p.name + (p.required ? "" : "?")), p.in, typeOf(p.schema), prose(p.description)])));
  }
  const body = operation.requestBody && operation.requestBody.content["application/json"];
  if (body) parts.push(element("h3", {}, "Body"), element("p", {}, typeOf(body.schema)));
  parts.push(element("h3", {}, "Answers"), table(["status", "content", "meaning"], Object.entries(operation.responses).map(([status, answer]) => {
    const [kind, content] = Object.entries(answer.content || {})[0] || ["", null];
    return [element("code", {}, status), content ? element("span", {}, typeOf(content.schema), " as " + kind) : "no body", answer.description];
  })));
  const made = element("details", { class: "endpoint", id: operation.operationId },
    element("summary", {}, element("span", { class: "method " + method }, method.toUpperCase()),
      element("span", { class: "path" }, path), element("span", { class: "role" }, role)),
    element("div", { class: "body" }, ...parts));
  made.dataset.text = [path, method, operation.operationId, operation.summary, role].join(" ").toLowerCase();
  return made;
}

function schemaSection(name, schema) {
  const parts = [element("h3", {}, name)];
  if (schema.description) parts.push(element("p", { class: "summary" }, prose(schema.description)));
  const forms = schema.oneOf || schema.anyOf;
  if (schema.properties) parts.push(table(["field", "type", "meaning"], properties(schema)));
  else if (forms) {
    for (const form of forms) {
      if (form.const !== undefined) parts.push(element("p", {}, element("code", {}, String(form.const)), form.description ? ": " : "", prose(form.description)));
      else {
        if (form.description) parts.push(element("p", {}, prose(form.description)));
        parts.push(form.properties ? table(["field", "type", "meaning"], properties(form)) : element("p", {}, typeOf(form)));
      }
    }
  } else parts.push(element("p", {}, typeOf(schema)));
  return element("section", { id: "schema-" + name }, ...parts);
}

function errorSection(code) {
  const rows = [];
  for (const form of code.oneOf || []) {
    const labels = form.const !== undefined ? [form.const] : form.enum || [];
    for (const label of labels) rows.push(element("p", { id: "error-" + label }, element("code", {}, label), form.description ? ": " : "", prose(form.description)));
  }
  return element("section", {}, element("h2", { id: "errors" }, "Error codes"), ...rows);
}

function render(description) {
  const content = document.getElementById("content");
  const contents = document.getElementById("contents");
  const tags = new Map();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const method of METHODS) {
      if (!methods[method]) continue;
      const tag = methods[method].tags[0];
      if (!tags.has(tag)) tags.set(tag, []);
      tags.get(tag).push(endpoint(path, method, methods[method]));
    }
  }
  content.replaceChildren(element("p", {}, prose(description.info.description)));
  for (const [tag, endpoints] of tags) {
    content.append(element("section", { class: "tag" }, element("h2", { id: "tag-" + tag }, tag), ...endpoints));
    contents.append(element("h2", {}, tag), element("ul", {}, ...endpoints.map((e) =>
      element("li", {}, element("a", { href: "#" + e.id }, e.id)))));
  }
  const schemas = description.components.schemas;
  contents.append(element("h2", {}, "reference"), element("ul", {},
    element("li", {}, element("a", { href: "#errors" }, "Error codes")),
    element("li", {}, element("a", { href: "#schemas" }, "Schemas"))));
  if (schemas.Code) content.append(errorSection(schemas.Code));
  content.append(element("h2", { id: "schemas" }, "Schemas"), ...Object.entries(schemas).map(([name, schema]) => schemaSection(name, schema)));
}

function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.tagName === "DETAILS") target.open = true;
  target.scrollIntoView();
}

function filter(event) {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const one of document.querySelectorAll(".endpoint")) one.hidden = !words.every((word) => one.dataset.text.includes(word));
  for (const tag of document.querySelectorAll(".tag")) tag.hidden = !tag.querySelector(".endpoint:not([hidden])");
}

async function main() {
  const answer = await fetch("/openapi.json");
  if (!answer.ok) throw new Error("the server answered " + answer.status);
  render(await answer.json());
  document.getElementById("filter").addEventListener("input", filter);
  addEventListener("hashchange", reveal);
  reveal();
}

main().catch((problem) => {
  document.getElementById("status").textContent = "The description of the API could not be loaded: " + problem.message;
});
