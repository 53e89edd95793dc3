// The page: signs in, and shows the tasks of whoever that is.

import { accessToken, readConfig, signIn, signOut, takeUp } from "./sign-in.js";

const main = document.getElementById("main");

function show(...nodes) {
  main.replaceChildren(...nodes);
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function offer(config, said) {
  const button = element("button", "Sign in");
  button.addEventListener("click", () => signIn(config));
  show(element("p", said), button);
}

async function showTasks() {
  const answer = await fetch("/v1/tasks", { headers: { authorization: `Bearer ${accessToken()}` } });
  if (!answer.ok) {
    show(element("p", "The tasks cannot be read now."));
    return;
  }
  const { tasks } = await answer.json();
  const list = document.createElement("ul");
  list.append(...tasks.map((task) => element("li", `${task.id}: ${task.status.phase}`)));
  show(element("h1", "My tasks"), tasks.length ? list : element("p", "There are none yet."));
}

const config = await readConfig();
const out = document.getElementById("sign-out");
out.addEventListener("click", () => signOut(config));
try {
  if (location.pathname === "/signed-out") {
    offer(config, "You are signed out.");
  } else if (await takeUp(config)) {
    out.hidden = false;
    await showTasks();
  } else {
    await signIn(config);
  }
} catch (error) {
  offer(config, `Signing in failed (${error.message}).`);
}
