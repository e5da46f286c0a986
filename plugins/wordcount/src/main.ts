// wordcount is a plugin of Quoin that counts words: a tool for agents that reads
// a document with the rights of who asks, and a handler of events that keeps how
// long each document was when it was finalized last, with a tool that tells it.
import { count } from "./count.js";
import { serve, type Event, type Host } from "./quoin.js";

const kept = "words/";

async function countDocument(host: Host, where: { type: string; ouuid: string }): Promise<object> {
  const document = await host.document(where.type, where.ouuid);
  return count(JSON.parse(document.data.toString()));
}

async function finalized(host: Host, event: Event): Promise<void> {
  const { words } = count(event.data.raw_data);
  await host.set(kept + event.subject, String(words));
  await host.log("info", "counted", { subject: event.subject, words: String(words) });
}

async function lengths(host: Host): Promise<object> {
  const documents: Record<string, number> = {};
  for (const key of (await host.keys(kept)).keys) {
    documents[key.slice(kept.length)] = Number((await host.get(key)).value.toString());
  }
  return { documents };
}

const text = { type: "string" };

serve({
  name: "wordcount",
  version: "0.1.0",
  summary: "Counts the words of documents.",
  capabilities: ["documents:read", "kv"],
  tools: [
    {
      name: "count",
      description: "Counts the words of a document, in all and by field.",
      inputSchema: { type: "object", properties: { type: text, ouuid: text }, required: ["type", "ouuid"], additionalProperties: false },
      readOnly: true,
      run: countDocument,
    },
    {
      name: "lengths",
      description: "Tells how many words the documents had when they were finalized last, of up to 100.",
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
      readOnly: true,
      run: lengths,
    },
  ],
  events: [{ pattern: "content.finalize", handle: finalized }],
}).catch((err: unknown) => {
  console.error(err);
  process.exit(1);
});
