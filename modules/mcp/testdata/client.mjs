// Runs a client of the TypeScript SDK against an endpoint whose user may see
// news and pages: node client.mjs <v1|v2> <url> <token> <ouuid of a news item>
// <url that changes it>.
const [generation, url, token, ouuid, change] = process.argv.slice(2);
let Client, Transport, updatedSchema, elicitSchema;
if (generation === "v1") {
  ({ Client } = await import("@modelcontextprotocol/sdk/client/index.js"));
  ({ StreamableHTTPClientTransport: Transport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js"));
  const types = await import("@modelcontextprotocol/sdk/types.js");
  updatedSchema = types.ResourceUpdatedNotificationSchema;
  elicitSchema = types.ElicitRequestSchema;
} else {
  ({ Client, StreamableHTTPClientTransport: Transport } = await import("@modelcontextprotocol/client"));
  updatedSchema = "notifications/resources/updated";
  elicitSchema = "elicitation/create";
}
const check = (what, ok) => {
  if (!ok) throw new Error(what);
  console.log("ok", what);
};
const signIn = () => new Transport(new URL(url), { requestInit: { headers: { "X-Auth-Token": token } } });
const uri = "elasticms://documents/news/" + ouuid;
const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
let asked;
const question = new Promise((done) => (asked = done));
client.setRequestHandler(elicitSchema, async (r) => {
  if (r.params.message !== "wait") return { action: "accept", content: { username: "ann" } };
  asked();
  return new Promise(() => {});
});
let told;
const updated = new Promise((done) => (told = done));
client.setNotificationHandler(updatedSchema, (n) => told(n.params.uri));
await client.connect(signIn());

const list = (await client.listTools()).tools.map((t) => t.name);
const perType = list.filter((n) => /^(get|create)_document_/.test(n)).sort().join();
check("list " + perType, perType === "create_document_news,create_document_page,get_document_news,get_document_page");
for (let i = 0; i < 4; i++) {
  const r = await client.callTool({ name: "get_document_news", arguments: { ouuid } });
  check("call", r.structuredContent.ouuid === ouuid);
}
check("short name", (await client.callTool({ name: "get_news", arguments: { ouuid } })).structuredContent.ouuid === ouuid);
check("right", (await client.callTool({ name: "get_document", arguments: { contentType: "section", ouuid } })).isError);
const draft = await client.callTool({ name: "create_document_page", arguments: { rawData: { label: "by " + generation } } });
check("create", draft.structuredContent.draft === true);
const read = await client.readResource({ uri });
check("read", JSON.parse(read.contents[0].text).ouuid === ouuid);
const answer = await client.callTool({ name: "test_elicitation", arguments: { message: "who?" } });
check("ask", answer.content[0].text.includes("ann"));
const stop = new AbortController();
const hanging = client.callTool({ name: "test_elicitation", arguments: { message: "wait" } }, ...(generation === "v1" ? [undefined] : []), { signal: stop.signal });
question.then(() => stop.abort());
check("cancel", await hanging.then(() => false, () => true));
await client.subscribeResource({ uri });
const again = setInterval(() => fetch(change), 300); // the stream may be at the other server still
check("subscribe", (await updated) === uri);
clearInterval(again);
await client.close();
check("close", true);
const back = new Client({ name: "test", version: "1" }, {});
await back.connect(signIn());
check("connect", true);
check("reconnect", (await back.callTool({ name: "get_document_news", arguments: { ouuid } })).structuredContent.ouuid === ouuid);
await back.close();
console.log("done");
process.exit(0);
