// Reads schemas of the documents: references, and schemas composed of others.

const at = (doc, ref) => ref.replace(/^#\//, '').split('/').reduce((o, part) => o?.[part.replaceAll('~1', '/')], doc)

// plain returns a schema with its references followed and its parts joined.
export function plain(doc, schema) {
  if (!schema) return {}
  if (schema.$ref) return plain(doc, at(doc, schema.$ref))
  if (!schema.allOf) return schema
  const { allOf, ...own } = schema
  const joined = { properties: {}, required: [] }
  for (const part of [...allOf.map((s) => plain(doc, s)), own]) {
    Object.assign(joined, { ...part, properties: { ...joined.properties, ...part.properties }, required: [...joined.required, ...(part.required || [])] })
  }
  if (!Object.keys(joined.properties).length) delete joined.properties
  return joined
}

export const isTexts = (schema) => schema.type === 'object' && !schema.properties && schema['x-keys'] !== undefined && schema.additionalProperties?.type === 'string'

// variants are the schemas that a discriminator chooses from, by its value.
export function variants(doc, schema) {
  if (!schema.discriminator?.mapping) return null
  return Object.fromEntries(Object.entries(schema.discriminator.mapping).map(([name, ref]) => [name, plain(doc, { $ref: ref })]))
}

// bodyOf is the schema of an operation's body, with its examples.
export function bodyOf(doc, path, method = 'post') {
  const media = doc.paths[path][method].requestBody.content['application/json']
  return { schema: plain(doc, media.schema), examples: media.examples || {} }
}

// example returns a body's example by name.
export function example(doc, examples, name) {
  const e = examples[name]
  const found = e?.$ref ? at(doc, e.$ref) : e
  return found ? structuredClone(found.value) : undefined
}

// clean drops empty values, so that a form sends only what is filled in.
export function clean(value) {
  if (Array.isArray(value)) return value.map(clean).filter((v) => v !== undefined)
  if (value && typeof value === 'object') {
    const kept = Object.entries(value).map(([k, v]) => [k, clean(v)]).filter(([, v]) => v !== undefined)
    return kept.length ? Object.fromEntries(kept) : undefined
  }
  return value === '' || value === null ? undefined : value
}

// first is the first sentence of a description.
export const first = (text = '') => text.split(/^- /m)[0].split(/(?<=\.)\s/)[0].replaceAll('`', '').replace(/\s+/g, ' ').trim()
