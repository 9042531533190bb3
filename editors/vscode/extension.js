// Starts `sagax lsp`, and asks it to explain the script in front.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function ask(command) {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== "python") return;
  await editor.document.save(); // what is run is the file
  await client.sendRequest("workspace/executeCommand", {
    command,
    arguments: [editor.document.uri.toString()],
  });
}

exports.activate = async function (context) {
  const python = vscode.workspace.getConfiguration("sagax").get("python");
  client = new LanguageClient(
    "sagax",
    "sagax",
    { command: python, args: ["-m", "sagax", "lsp"] },
    { documentSelector: [{ language: "python" }] },
  );
  context.subscriptions.push(
    vscode.commands.registerCommand("sagax.explainFile", () => ask("sagax.explain")),
    vscode.commands.registerCommand("sagax.showCompilations", () => ask("sagax.compilations")),
  );
  await client.start();
};

exports.deactivate = () => client && client.stop();
