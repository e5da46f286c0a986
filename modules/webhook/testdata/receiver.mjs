// A receiver that checks calls with the public package standardwebhooks. The
// secret is its argument; it prints its port, then a line for each call.
import { createServer } from "node:http";
import { createRequire } from "node:module";

const { Webhook } = createRequire(process.cwd() + "/")("standardwebhooks");
const wh = new Webhook(process.argv[2]);

createServer((req, res) => {
  const parts = [];
  req.on("data", (part) => parts.push(part));
  req.on("end", () => {
    try {
      const call = wh.verify(Buffer.concat(parts).toString(), req.headers);
      console.log("verified " + call.event + " " + req.headers["x-webhook-event"]);
    } catch (e) {
      console.log("refused " + e.message);
      res.statusCode = 401;
    }
    res.end();
  });
}).listen(0, "127.0.0.1", function () {
  console.log(this.address().port);
});
