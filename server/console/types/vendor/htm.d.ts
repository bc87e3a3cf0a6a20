declare const htm: { bind(h: any): (text: TemplateStringsArray, ...holes: any[]) => any }
export default htm
