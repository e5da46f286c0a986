// Counting words.

const segments = new Intl.Segmenter(undefined, { granularity: "word" });

// words counts the words of a text, in any script; tags of HTML are none.
export function words(text: string): number {
  let n = 0;
  for (const s of segments.segment(text.replace(/<[^>]*>/g, " "))) if (s.isWordLike) n++;
  return n;
}

export interface Count {
  words: number;
  fields: Record<string, number>;
}

// count counts the words of every text in a document, by the path of its field;
// the texts of a list count together.
export function count(document: unknown): Count {
  const all: Count = { words: 0, fields: {} };
  const walk = (value: unknown, path: string, depth: number): void => {
    if (depth > 50) return;
    if (typeof value === "string") {
      const n = words(value);
      all.words += n;
      all.fields[path] = (all.fields[path] ?? 0) + n;
    } else if (Array.isArray(value)) {
      for (const v of value) walk(v, path, depth + 1);
    } else if (value && typeof value === "object") {
      for (const [key, v] of Object.entries(value)) {
        if (!key.startsWith("_")) walk(v, path ? `${path}.${key}` : key, depth + 1);
      }
    }
  };
  walk(document, "", 0);
  return all;
}
