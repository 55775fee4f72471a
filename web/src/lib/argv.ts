// Command lines: words with shell-like quoting, but no shell. What a user types becomes program and
// arguments exactly; nothing is expanded.

export type Split = { ok: true; argv: string[] } | { ok: false; error: string };

/** Splits on blanks; `'…'`, `"…"` and `\` quote as in a POSIX shell. */
export function splitCommand(text: string): Split {
  const argv: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (/\s/.test(char)) {
      if (word !== undefined) argv.push(word);
      word = undefined;
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end < 0) return { ok: false, error: "A single quote is not closed." };
      word = (word ?? "") + text.slice(at + 1, end);
      at = end;
    } else if (char === '"') {
      word ??= "";
      for (at++; at < text.length && text.charAt(at) !== '"'; at++) {
        if (text.charAt(at) === "\\" && /["\\$`]/.test(text.charAt(at + 1))) at++;
        word += text.charAt(at);
      }
      if (at >= text.length) return { ok: false, error: "A double quote is not closed." };
    } else if (char === "\\") {
      if (at + 1 >= text.length)
        return { ok: false, error: "The backslash at the end quotes nothing." };
      word = (word ?? "") + text.charAt(++at);
    } else {
      word = (word ?? "") + char;
    }
  }
  if (word !== undefined) argv.push(word);
  return { ok: true, argv };
}

/** A word as it can be pasted into a POSIX shell. */
export function quoteWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function quoteCommand(argv: readonly string[] = []): string {
  return argv.map(quoteWord).join(" ");
}

/** The first thing in the text, outside quotes, that only a shell would understand. */
export function shellOnly(text: string): string | undefined {
  const bare = text
    .replace(/\\.|'[^']*'/g, "")
    .replace(/"[^"]*"/g, (quoted) => quoted.match(/\$[\w{(]+|`/g)?.join(" ") ?? "");
  return /&&|\|\||[|;<>&`]|\$\(|\$\{|\$\w+|(?<=\s)[*~]/.exec(bare)?.[0];
}
