/** The plugin's rater interface in memory (docs/plugin-api.md), for the page's tests. */

const decided = (state, dimensions) => dimensions.every(({ id }) => id in state.labels);

export class FakePlugin {
  /** `conversations`: {[task]: {conversation, codebook, copilot, messages, spans, suggestions: {[span_id]: [...]}}}. */
  constructor(conversations, { rater = 7, hideFuture = true } = {}) {
    Object.assign(this, { conversations, rater, hideFuture });
    this.states = {}; // task -> span_id -> {labels, note, version, last: {client, seq}}
    this.seen = {}; // task -> messages
    this.submitted = {};
    this.log = []; // every write taken, in order
    for (const task of Object.keys(conversations)) this.states[task] = {};
  }

  state(task, spanId) {
    return (this.states[task][spanId] ??= { labels: {}, note: "", version: 0, last: null });
  }

  visible(task) {
    const { messages, spans, codebook } = this.conversations[task];
    if (!this.hideFuture) return messages.length;
    // what was seen stays seen
    const waiting = spans.filter((span) => !decided(this.state(task, span.span_id), codebook.dimensions));
    const count = waiting.length > 0 ? Math.min(...waiting.map(({ message }) => message)) + 1 : messages.length;
    return (this.seen[task] = Math.max(this.seen[task] ?? 0, count));
  }

  progress(task) {
    const { spans, codebook } = this.conversations[task];
    const done = spans.filter((span) => decided(this.state(task, span.span_id), codebook.dimensions)).length;
    return {
      decided: done,
      total: spans.length,
      status: done === spans.length ? "done" : done > 0 ? "in_progress" : "pending",
    };
  }

  unit(task, span) {
    const { labels, note, version } = this.state(task, span.span_id);
    return {
      span_id: span.span_id,
      rev: span.rev ?? 1,
      message: span.message,
      start: span.start,
      end: span.end,
      labels,
      note,
      version,
    };
  }

  /** Answers {status, body}. */
  handle(method, path, body) {
    const [, task, , spanId, action] = path.match(/^tasks\/(\d+)(\/units\/([^/]+))?(?:\/(\w+))?$/) ?? [];
    if (!task || !this.conversations[task]) return refusal(404, "not_found");
    const span = spanId && this.conversations[task].spans.find(({ span_id: id }) => id === decodeURIComponent(spanId));
    if (method === "GET") return { status: 200, body: this.task(task) };
    if (method === "PUT") return this.put(task, span, body);
    if (action === "suggestion")
      return { status: 200, body: { suggestions: this.conversations[task].suggestions?.[span.span_id] ?? [] } };
    if (action === "finish") return this.finish(task);
    return refusal(404, "not_found");
  }

  task(task) {
    const { conversation, codebook, copilot = true, messages, spans } = this.conversations[task];
    const count = this.visible(task);
    return structuredClone({
      task: Number(task),
      project: 3,
      rater: this.rater,
      conversation,
      codebook,
      copilot,
      progress: this.progress(task),
      submitted: Boolean(this.submitted[task]),
      messages: messages.slice(0, count),
      more_messages: count < messages.length,
      units: spans.filter(({ message }) => message < count).map((span) => this.unit(task, span)),
    });
  }

  put(task, span, body) {
    const before = this.visible(task);
    if (!span || (span.rev ?? 1) !== body.rev || span.message >= before) return refusal(409, "stale_unit");
    const { dimensions } = this.conversations[task].codebook;
    for (const [id, label] of Object.entries(body.labels)) {
      const categories = dimensions.find((dimension) => dimension.id === id)?.categories ?? [];
      if (label !== "unsure" && !categories.some((category) => category.id === label)) return refusal(400, "invalid");
    }
    const state = this.state(task, span.span_id);
    const same = state.last?.client === body.client;
    if (same && state.last.seq >= body.seq) return this.taken(task, span);
    if (!same && body.base !== state.version) {
      return { status: 409, body: { error: "changed elsewhere", code: "conflict", unit: this.unit(task, span) } };
    }
    Object.assign(state, {
      labels: body.labels,
      note: body.note,
      version: state.version + 1,
      last: { client: body.client, seq: body.seq },
    });
    this.log.push({ task: Number(task), span_id: span.span_id, ...body });
    return this.taken(task, span);
  }

  taken(task, span) {
    const { messages, spans } = this.conversations[task];
    const count = this.visible(task);
    const from = span.message + 1;
    return structuredClone({
      status: 200,
      body: {
        unit: this.unit(task, span),
        progress: this.progress(task),
        messages: messages.slice(from, count),
        more_messages: count < messages.length,
        units: spans.filter(({ message }) => message >= from && message < count).map((other) => this.unit(task, other)),
      },
    });
  }

  finish(task) {
    const progress = this.progress(task);
    if (progress.status !== "done")
      return { status: 409, body: { error: "not every unit is decided", code: "unfinished", progress } };
    this.submitted[task] = true;
    return { status: 200, body: { annotation: 1000 + Number(task) } };
  }
}

function refusal(status, code) {
  return { status, body: { error: `refused: ${code}`, code } };
}

export const CODEBOOK = {
  title: "Sample codebook",
  dimensions: [
    {
      id: "intent",
      title: "Intent",
      question: "What does the unit do?",
      categories: [
        { id: "Q", name: "Question", definition: "Asks.", key: "1" },
        { id: "R", name: "Reflection", definition: "Gives back.", key: "2" },
        { id: "A", name: "Advice", definition: "Guides.", key: "3" },
      ],
    },
  ],
};

/** A conversation of `texts`, each an array of unit texts joined by a blank; `null` first marks a context message. */
export function conversation(texts, codebook = CODEBOOK) {
  const spans = [];
  const messages = texts.map((parts, index) => {
    const labelable = parts[0] !== null;
    const units = parts.filter((part) => part !== null);
    let at = 0;
    if (labelable) {
      units.forEach((part, i) => {
        const length = [...part].length;
        spans.push({ span_id: `c-${index}-${i}`, rev: 1, message: index, start: at, end: at + length });
        at += length + 1;
      });
    }
    return {
      index,
      message_id: index + 1,
      speaker: labelable ? "a" : "c",
      author: labelable ? "Ana" : "Goose",
      role: labelable ? "counsellor" : "client",
      mediator: false,
      text: units.join(" "),
      labelable,
    };
  });
  return { conversation: { id: "c", label: "Conversation" }, codebook, messages, spans, suggestions: {} };
}
