// Zoom, search and the details line of a flame graph that netstall wrote. The frames are drawn already; without this
// script the graph can be looked at, and every frame has its title. Nothing is loaded, nothing is kept.
(function () {
	"use strict";
	const FRAME = 17, PAD = 10, LEAST_WIDTH = 640;
	const KINDS = ["thread that was blocked", "cause", "program, blocked", "kernel, blocked", "", "",
		"kernel, waking", "program, waking", "woke it"];
	const svg = document.documentElement;
	const byId = (id) => document.getElementById(id);
	const bar = byId("bar"), details = byId("details"), matched = byId("matched"), field = byId("field");
	const hint = details.textContent;
	const barHeight = Number(bar.dataset.height), levels = Number(svg.dataset.levels);

	// data-v: start and width in ns, depth, waits, kind, hop. Parents stand before their children.
	const path = [];
	const frames = Array.from(document.querySelectorAll("g.f"), (group) => {
		const [start, width, depth, waits, kind, hop] = group.dataset.v.split(" ").map(Number);
		const lines = group.querySelector("title").textContent.split("\n");
		const frame = { group, start, width, depth, waits, kind, hop, name: lines[0], about: lines.slice(1).join(" "),
			rect: group.querySelector("rect"), text: group.querySelector("text"), children: [], match: false };
		path.length = depth;
		path[depth] = frame;
		frame.parent = depth ? path[depth - 1] : null;
		if (frame.parent)
			frame.parent.children.push(frame);
		group.frame = frame;
		return frame;
	});
	const root = frames[0];
	if (!root)
		return;
	let focus = root, selected = null, pattern = null, upsideDown = false, total = 1200, letter = 7.25;

	const percent = (part) => (part > 0 && part < 0.0005 ? "<0.1" : (100 * part).toFixed(1)) + "%";
	// Letters of Asia, and what comes behind them, are two columns wide.
	const columns = (text) => Array.from(text).reduce((sum, c) => sum + (c.codePointAt(0) < 0x1100 ? 1 : 2), 0);

	function fit(name, width) {
		let room = Math.floor((width - 6) / letter);
		if (columns(name) <= room)
			return name;
		if (room < 3)
			return "";
		let text = "";
		room -= 2;
		for (const c of name) {
			room -= columns(c);
			if (room < 0)
				break;
			text += c;
		}
		return text + "..";
	}

	function top(depth) {
		return barHeight + (upsideDown ? depth : levels - 1 - depth) * FRAME;
	}

	const isInFocus = (frame) => frame.depth >= focus.depth && frame.start >= focus.start &&
		frame.start + frame.width <= focus.start + focus.width;
	const isAbove = (frame) => frame.depth < focus.depth && frame.start <= focus.start &&
		frame.start + frame.width >= focus.start + focus.width;

	function place(frame) {
		const above = isAbove(frame), shown = above || isInFocus(frame), scale = (total - 2 * PAD) / focus.width;
		const x = above ? 0 : (frame.start - focus.start) * scale, width = above ? total - 2 * PAD : frame.width * scale;
		frame.group.classList.toggle("x", !shown || width < 0.05);
		frame.group.classList.toggle("a", above);
		if (!shown)
			return;
		frame.rect.setAttribute("x", (PAD + x).toFixed(2));
		frame.rect.setAttribute("width", Math.max(width - (width > 2 ? 0.5 : 0), 0.05).toFixed(2));
		frame.rect.setAttribute("y", top(frame.depth));
		frame.text.setAttribute("x", (PAD + x + 3).toFixed(2));
		frame.text.setAttribute("y", top(frame.depth) + 12);
		frame.text.textContent = fit(frame.name, width);
	}

	function draw() {
		const height = Number(svg.dataset.height);
		total = Math.max(window.innerWidth - (height > window.innerHeight ? 16 : 0), LEAST_WIDTH);
		svg.setAttribute("width", total);
		svg.setAttribute("viewBox", `0 0 ${total} ${height}`);
		bar.querySelector("rect.paper").setAttribute("width", total);
		bar.querySelector("line").setAttribute("x2", total);
		byId("buttons").setAttribute("transform", `translate(${total - 1200},0)`);
		byId("reset").classList.toggle("off", focus === root);
		frames.forEach(place);
		showMatches();
	}

	function stick() {
		bar.setAttribute("transform", `translate(0,${Math.max(window.scrollY, 0)})`);
	}

	function describe(frame) {
		const kind = KINDS[frame.kind] && frame !== root ? `  [${frame.hop ? "waker " + frame.hop + ": " : ""}${KINDS[frame.kind]}]` : "";
		const ofView = focus === root ? "" : `, ${percent(Math.min(frame.width / focus.width, 1))} of the view`;
		details.classList.remove("soft");
		details.textContent = frame.name + kind + "  " + frame.about + ofView;
	}

	function describeNothing() {
		details.classList.add("soft");
		details.textContent = hint;
	}

	function select(frame) {
		if (selected)
			selected.group.classList.remove("s");
		selected = frame;
		if (!frame)
			return describeNothing();
		frame.group.classList.add("s");
		describe(frame);
		const y = top(frame.depth);
		if (y < window.scrollY + barHeight || y + FRAME > window.scrollY + window.innerHeight)
			window.scrollTo(0, y - window.innerHeight / 2);
	}

	function zoom(frame) {
		focus = frame;
		draw();
	}

	// The share of the view's time that has a match anywhere in its stack.
	function showMatches() {
		if (!pattern) {
			matched.textContent = "";
			return;
		}
		let covered = 0, end = focus.start;
		const found = frames.filter((frame) => frame.match && (isInFocus(frame) || isAbove(frame)));
		for (const frame of found.sort((a, b) => a.start - b.start || b.width - a.width)) {
			const from = Math.max(frame.start, end), to = Math.min(frame.start + frame.width, focus.start + focus.width);
			covered += Math.max(to - from, 0);
			end = Math.max(end, to);
		}
		matched.textContent = `Matched: ${percent(covered / focus.width)}`;
	}

	// Small letters match capitals too, as in less and vim.
	function search(text) {
		try {
			pattern = text ? new RegExp(text, text === text.toLowerCase() ? "iu" : "u") : null;
			field.classList.remove("bad");
		} catch (error) {
			field.classList.add("bad");
			return;
		}
		for (const frame of frames) {
			frame.match = pattern !== null && frame !== root && pattern.test(frame.name);
			frame.group.classList.toggle("m", frame.match);
		}
		showMatches();
	}

	function openSearch() {
		byId("search-box").style.display = "";
		field.focus();
		field.select();
	}

	function closeSearch() {
		field.value = "";
		search("");
		byId("search-box").style.display = "none";
		field.blur();
	}

	function flip() {
		upsideDown = !upsideDown;
		draw();
		window.scrollTo(0, upsideDown ? 0 : Number(svg.dataset.height));
	}

	const widest = (list) => list.reduce((most, frame) => (!most || frame.width > most.width ? frame : most), null);

	function move(key) {
		const away = upsideDown ? "ArrowDown" : "ArrowUp";
		if (!selected || selected.group.classList.contains("x"))
			return select(focus);
		let next = null;
		if (key === away)
			next = widest(selected.children);
		else if (key === "ArrowUp" || key === "ArrowDown")
			next = selected.parent;
		else {
			const row = selected.parent ? selected.parent.children : [selected];
			next = row[row.indexOf(selected) + (key === "ArrowLeft" ? -1 : 1)];
		}
		if (next && !next.group.classList.contains("x"))
			select(next);
	}

	function onKey(event) {
		if (event.key === "F3" || ((event.ctrlKey || event.metaKey) && event.key === "f"))
			openSearch();
		else if (event.target === field)
			return onFieldKey(event);
		else if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		else if (event.key === "/")
			openSearch();
		else if (event.key === "Escape")
			pattern ? closeSearch() : zoom(root);
		else if (event.key.startsWith("Arrow"))
			move(event.key);
		else if (event.key === "Enter" || event.key === " ")
			press(event.target.closest(".button")) || (selected && zoom(selected));
		else if (event.key === "i")
			flip();
		else
			return;
		event.preventDefault();
	}

	function onFieldKey(event) {
		if (event.key === "Escape")
			closeSearch();
		else if (event.key === "Enter")
			field.blur();
	}

	function press(button) {
		const actions = { search: openSearch, reset: () => zoom(root), flip };
		if (button && actions[button.id])
			actions[button.id]();
		return Boolean(button);
	}

	const frameOf = (event) => (event.target.closest ? event.target.closest("g.f") : null)?.frame;
	svg.addEventListener("click", (event) => {
		const frame = frameOf(event);
		if (frame) {
			select(frame);
			zoom(frame);
			describe(frame);
		} else {
			press(event.target.closest(".button"));
		}
	});
	svg.addEventListener("mouseover", (event) => {
		const frame = frameOf(event);
		if (frame)
			describe(frame);
	});
	svg.addEventListener("mouseout", (event) => {
		if (frameOf(event))
			selected ? describe(selected) : describeNothing();
	});
	field.addEventListener("input", () => search(field.value));
	window.addEventListener("keydown", onKey);
	window.addEventListener("resize", draw);
	window.addEventListener("scroll", stick);
	// On paper all of the graph is in sight, and the head belongs on top.
	window.addEventListener("beforeprint", () => bar.removeAttribute("transform"));
	window.addEventListener("afterprint", stick);

	// The font at hand may be wider than the one that the file was written for.
	details.textContent = "m".repeat(100);
	letter = Math.max(details.getComputedTextLength() / 100, 5) || letter;
	describeNothing();
	draw();
	window.scrollTo(0, Number(svg.dataset.height));
	stick();
})();
