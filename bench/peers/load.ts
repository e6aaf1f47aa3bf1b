/**
 * Imports a package that is installed beside this file. What it is, the caller finds out.
 */
export const load = (name: string): Promise<unknown> => import(name)
