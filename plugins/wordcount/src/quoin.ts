// What a plugin of Quoin needs on the wire, without a kit: the handshake, the
// services that the server calls, and the way back to the services of the host.
// sdk/proto/README.md describes it.
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import protobuf from "protobufjs";
import hostProto from "../../../sdk/proto/host/v1/host.proto";
import pluginProto from "../../../sdk/proto/plugin/v1/plugin.proto";
import { makeCertificate } from "./certificate.js";
import healthProto from "./health.proto";

const maxMessage = 16 << 20;

export interface Tool {
  name: string;
  description: string;
  inputSchema: object;
  readOnly: boolean;
  run(host: Host, args: any): Promise<object>;
}

export interface Event {
  id: number;
  type: string;
  subject: string;
  data: any;
}

export interface Plugin {
  name: string;
  version: string;
  summary: string;
  capabilities: string[];
  tools: Tool[];
  events: { pattern: string; handle(host: Host, event: Event): Promise<void> }[];
}

// load reads a .proto file that is part of the program. Names stay as they are
// in the file; numbers of 64 bits become those of JavaScript.
function load(text: string): any {
  const { root } = protobuf.parse(text, { keepCase: true });
  return grpc.loadPackageDefinition(fromJSON(root.toJSON(), { keepCase: true, longs: Number, enums: String, defaults: true, oneofs: true }));
}

const pluginV1 = load(pluginProto).quoin.plugin.v1;
const hostV1 = load(hostProto).quoin.host.v1;
const health = load(healthProto).grpc.health.v1;

// Connection is what Configure tells about the host.
interface Connection {
  address: string;
  token: string;
}

// Host calls the services of the host on behalf of one call of the server: with
// the rights of its user, and no longer than it lasts.
export class Host {
  constructor(
    private readonly to: Connection,
    private readonly caller: string,
    private readonly until: grpc.Deadline,
  ) {}

  document(type: string, ouuid: string): Promise<{ data: Buffer; revision: number }> {
    return this.call("Documents", "Get", { type, ouuid });
  }

  get(key: string): Promise<{ found: boolean; value: Buffer }> {
    return this.call("KV", "Get", { key });
  }

  set(key: string, value: string): Promise<{ written: boolean }> {
    return this.call("KV", "Set", { key, value: Buffer.from(value) });
  }

  keys(prefix: string): Promise<{ keys: string[] }> {
    return this.call("KV", "List", { prefix, limit: 100 });
  }

  log(level: "debug" | "info" | "warn" | "error", message: string, fields: Record<string, string> = {}): Promise<object> {
    return this.call("Log", "Write", { level, message, fields });
  }

  private call(service: string, method: string, request: object): Promise<any> {
    const metadata = new grpc.Metadata();
    metadata.set("quoin-plugin", this.to.token);
    if (this.caller) metadata.set("quoin-call", this.caller);
    return new Promise((resolve, reject) =>
      client(service, this.to.address)[method](request, metadata, { deadline: this.until }, (err: grpc.ServiceError | null, answer: any) =>
        err ? reject(new Error(err.details)) : resolve(answer),
      ),
    );
  }
}

// The clients of the host services share one connection.
const clients = new Map<string, any>();

function client(service: string, address: string): any {
  let found = clients.get(service);
  if (!found) {
    found = new hostV1[service](address, grpc.credentials.createInsecure(), {
      "grpc.max_receive_message_length": maxMessage,
      "grpc.max_send_message_length": maxMessage,
    });
    clients.set(service, found);
  }
  return found;
}

const said = (err: unknown) => (err instanceof Error ? err.message : String(err));
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

function matches(pattern: string, type: string): boolean {
  return pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}

// services are what the server calls.
function services(p: Plugin) {
  const to: Connection = { address: "", token: "" };
  const host = (call: any) => new Host(to, call.request.caller?.token ?? "", call.getDeadline());
  const description = {
    name: p.name,
    version: p.version,
    sdk: "typescript",
    summary: p.summary,
    services: ["Lifecycle", "Tools", "Events"].map((s) => "quoin.plugin.v1." + s),
    tools: p.tools.map((t) => ({ name: t.name, description: t.description, read_only: t.readOnly, input_schema: json(t.inputSchema) })),
    events: p.events.map((e) => e.pattern),
    capabilities: p.capabilities,
  };
  const lifecycle = {
    Describe: (_: any, answer: any) => answer(null, description),
    Configure: (call: any, answer: any) => {
      to.address = call.request.host_address;
      to.token = call.request.host_token;
      const given = Object.keys(JSON.parse(call.request.config.toString() || "{}"));
      answer(null, { problems: given.map((path) => ({ path, message: "is not known: the plugin has no settings" })) });
    },
    Stop: (_: any, answer: any) => answer(null, {}),
  };
  const tools = {
    Call: async (call: any) => {
      const tool = p.tools.find((t) => t.name === call.request.tool);
      if (!tool) {
        call.emit("error", { code: grpc.status.NOT_FOUND, details: `there is no tool ${call.request.tool}` });
        return;
      }
      try {
        const value = await tool.run(host(call), JSON.parse(call.request.arguments.toString() || "{}"));
        call.write({ result: { content: [{ text: JSON.stringify(value) }], structured: json(value) } });
      } catch (err) {
        call.write({ result: { content: [{ text: said(err) }], failed: true } });
      }
      call.end();
    },
  };
  // One verdict for each event, in their order; an event that fails comes again.
  const verdict = async (call: any, e: any) => {
    try {
      const event = { id: e.id, type: e.type, subject: e.subject, data: JSON.parse(e.data.toString() || "null") };
      for (const h of p.events) if (matches(h.pattern, e.type)) await h.handle(host(call), event);
      return { kind: "KIND_DONE" };
    } catch (err) {
      return { kind: "KIND_RETRY", message: said(err) };
    }
  };
  const events = {
    Handle: async (call: any, answer: any) => {
      const verdicts = [];
      for (const e of call.request.events) verdicts.push(await verdict(call, e));
      answer(null, { verdicts });
    },
  };
  return { lifecycle, tools, events };
}

// serve says hello to the server that started this process and answers it until
// it is ended.
export async function serve(p: Plugin): Promise<void> {
  if (process.env.QUOIN_PLUGIN !== "b0f5a3c2-quoin-plugin") {
    console.error("This program is a plugin of Quoin: see quoin plugin --help");
    process.exit(1);
  }
  const own = await makeCertificate();
  const server = new grpc.Server({ "grpc.max_receive_message_length": maxMessage, "grpc.max_send_message_length": maxMessage });
  const { lifecycle, tools, events } = services(p);
  server.addService(pluginV1.Lifecycle.service, lifecycle);
  server.addService(pluginV1.Tools.service, tools);
  server.addService(pluginV1.Events.service, events);
  server.addService(health.Health.service, { Check: (_: any, answer: any) => answer(null, { status: "SERVING" }) });

  // Both sides trust the one certificate that they were given, and no other.
  const credentials = grpc.ServerCredentials.createSsl(Buffer.from(process.env.PLUGIN_CLIENT_CERT ?? ""), [{ private_key: Buffer.from(own.key), cert_chain: Buffer.from(own.pem) }], true);
  const path = join(process.env.TMPDIR ?? "/tmp", createHash("sha256").update(own.der).digest("hex").slice(0, 12));
  await new Promise<number>((resolve, reject) => server.bindAsync("unix:" + path, credentials, (err, port) => (err ? reject(err) : resolve(port))));
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && process.exit(1), 2000).unref();
  process.stdout.write(`1|1|unix|${path}|grpc|${own.der.toString("base64").replace(/=+$/, "")}\n`);
}
