// The certificate that the plugin shows to the server, made anew at each start.
import "reflect-metadata"; // which x509 asks for
import * as x509 from "@peculiar/x509";

export interface Certificate {
  der: Buffer;
  pem: string;
  key: string;
}

const year = 365 * 24 * 3600 * 1000;

export async function makeCertificate(): Promise<Certificate> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=localhost",
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 30 * year),
    // The server asks for the name localhost.
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: "dns", value: "localhost" }])],
  });
  const key = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  return {
    der: Buffer.from(certificate.rawData),
    pem: certificate.toString("pem"),
    key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
  };
}
