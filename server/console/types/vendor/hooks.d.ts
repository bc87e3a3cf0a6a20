// What the console uses of Preact's hooks.
type Next<T> = T | ((before: T) => T)
export function useState<T = any>(first?: T | (() => T)): [any, (next: Next<any>) => void]
export function useReducer(step: (state: any, action: any) => any, first: any): [any, (action: any) => void]
export function useEffect(effect: () => void | (() => void), when?: any[]): void
export function useLayoutEffect(effect: () => void | (() => void), when?: any[]): void
export function useMemo<T>(make: () => T, when: any[]): T
export function useCallback<T>(f: T, when: any[]): T
export function useRef<T = any>(first?: T): { current: any }
