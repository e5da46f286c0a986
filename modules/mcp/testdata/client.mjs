// Runs a client of the TypeScript SDK against an endpoint: node client.mjs
// <v1|v2> <url> <token> <url that changes the resource>.
const [generation, url, token, change] = process.argv.slice(2);
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
const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(elicitSchema, async () => ({ action: "accept", content: { name: "ann" } }));
let told;
const updated = new Promise((done) => (told = done));
client.setNotificationHandler(updatedSchema, (n) => told(n.params.uri));
await client.connect(new Transport(new URL(url), { requestInit: { headers: { "X-Auth-Token": token } } }));

const list = await client.listTools();
check("list", list.tools.some((t) => t.name === "echo"));
for (let i = 0; i < 4; i++) {
  const r = await client.callTool({ name: "echo", arguments: { text: "hi" } });
  check("call", r.structuredContent.text === "hi");
}
const read = await client.readResource({ uri: "elasticms://bench/one" });
check("read", read.contents[0].text === "one");
const asked = await client.callTool({ name: "test_input_required_result_elicitation", arguments: {} });
check("ask", asked.content[0].text.includes("ann"));
const stop = new AbortController();
const hanging = client.callTool({ name: "hang", arguments: {} }, ...(generation === "v1" ? [undefined] : []), { signal: stop.signal });
setTimeout(() => stop.abort(), 200);
check("cancel", await hanging.then(() => false, () => true));
await client.subscribeResource({ uri: "elasticms://bench/one" });
const again = setInterval(() => fetch(change), 200);
check("subscribe", (await updated) === "elasticms://bench/one");
clearInterval(again);
check("close", (await client.close()) === undefined);
const back = new Client({ name: "test", version: "1" }, {});
await back.connect(new Transport(new URL(url), { requestInit: { headers: { "X-Auth-Token": token } } }));
check("connect", true);
check("reconnect", (await back.callTool({ name: "echo", arguments: { text: "again" } })).structuredContent.text === "again");
await back.close();
console.log("done");
process.exit(0);
