// What the console uses of Preact. What a template shows is not typed.
export function h(type: any, props: any, ...children: any[]): any
export function render(what: any, into: Element | null): void
export const Fragment: any
