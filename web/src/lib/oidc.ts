// What the identity provider gives back, where a person copies it into a terminal.

/**
 * Whether this is the end of a login that was begun here. Anybody can make a link with anything in
 * it: what a shell would take for a command must not be shown as something to copy.
 */
export function isCode(state: string, code: string): boolean {
  return /^[\w-]{43}$/.test(state) && /^[\w.~+/=:*!$-]{1,4096}$/.test(code);
}
