// What flamegraph.js does in a browser: put into the flame graph's own file behind its script, with PROFILE (the JSON of
// the same profile) and NAME. Results become lines "ok ..." or "not ok ...: why" of an element that the caller dumps.
(function () {
	"use strict";
	const results = [];
	const svg = document.documentElement;
	const byId = (id) => document.getElementById(id);
	const groups = Array.from(document.querySelectorAll("g.f"));
	const nameOf = (group) => group.querySelector("title").textContent.split("\n")[0];
	const nsOf = (group) => Number(group.dataset.v.split(" ")[1]);
	const depthOf = (group) => Number(group.dataset.v.split(" ")[2]);
	const number = (group, name) => Number(group.querySelector("rect").getAttribute(name));
	const shown = (group) => !group.classList.contains("x");
	const find = (name) => groups.find((group) => nameOf(group) === name);
	const picture = () => groups.map((group) => [shown(group), group.className.baseVal,
		...["x", "y", "width"].map((name) => number(group, name)), group.querySelector("text").textContent].join()).join(";");
	const total = () => Number(svg.getAttribute("width")) - 20;
	const whole = Math.round(PROFILE.totals.blocked_ms * 1e6);

	function check(name, test) {
		try {
			const fault = test();
			results.push(fault ? `not ok ${name}: ${fault}` : `ok ${name}`);
		} catch (error) {
			results.push(`not ok ${name}: ${error}`);
		}
	}
	const expect = (what, actual, wanted) =>
		(actual === wanted ? "" : `${what} is ${String(actual).slice(0, 80)}, wanted ${String(wanted).slice(0, 80)}; `);
	const near = (what, actual, wanted) => (Math.abs(actual - wanted) <= 1 ? "" : `${what} is ${actual}, wanted ${wanted}; `);

	function key(name, options = {}, target = svg) {
		const event = new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...options });
		target.dispatchEvent(event);
		return event;
	}
	const click = (group) => group.querySelector("rect").dispatchEvent(new MouseEvent("click", { bubbles: true }));
	const hover = (group, kind) => group.querySelector("rect").dispatchEvent(new MouseEvent(kind, { bubbles: true }));
	function type(text) {
		byId("field").value = text;
		byId("field").dispatchEvent(new Event("input", { bubbles: true }));
	}

	function everyFrameFits() {
		let fault = "";
		for (const group of groups.filter(shown)) {
			const label = group.querySelector("text"), width = number(group, "width");
			if (label.textContent && label.getComputedTextLength() > width)
				fault = `${nameOf(group)} sticks out of its frame`;
			if (number(group, "x") < 9.9 || number(group, "x") + width > total() + 10.1)
				fault = `${nameOf(group)} is out of the picture`;
		}
		return fault;
	}

	// The browser's window is lower than some of the graphs: these are opened at their lower end.
	function opensAtTheRoot() {
		const head = byId("bar").getBoundingClientRect(), root = groups[0].querySelector("rect").getBoundingClientRect();
		const height = Number(svg.dataset.height);
		return near("the head's place", head.top, 0) + (root.top >= head.bottom - 3 ? "" : `the head covers the root at ${root.top}; `) +
			(root.bottom <= window.innerHeight ? "" : `the root at ${root.bottom} is out of a window of ${window.innerHeight}; `) +
			near("what is above", window.scrollY, Math.max(height - window.innerHeight, 0)) +
			expect("the window is lower than the deep one", NAME !== "deep" || height > 2 * window.innerHeight, true);
	}

	function commonTests() {
		check("nothing-but-frames", () => expect("the number of scripts", document.querySelectorAll("script").length, 2) +
			expect("strange elements", document.querySelectorAll("b, image, a, use, link, img, iframe").length, 0));
		if (!groups.length)
			return check("empty", () => expect("the total", whole, 0) +
				(svg.textContent.includes("No wait ended in this time.") ? "" : "it does not say so"));
		check("opens-at-the-root", opensAtTheRoot);
		check("the-whole-is-the-total", () => expect("the root", nsOf(groups[0]), whole) + near("its width", number(groups[0], "width"), total()));
		check("widths-are-time", () => groups.filter((group) => shown(group) &&
			Math.abs(number(group, "width") - total() * nsOf(group) / whole) > 0.6).map(nameOf).join());
		check("frames-stand-on-their-parents", () => {
			const path = [];
			for (const group of groups) {
				const [start, width, depth] = group.dataset.v.split(" ").map(Number);
				path.length = depth;
				const parent = path[depth - 1];
				if (depth && (start < parent[0] || start + width > parent[0] + parent[1]))
					return `${nameOf(group)} is not on its parent`;
				if (depth && number(group, "y") !== number(groups[0], "y") - depth * 17)
					return `${nameOf(group)} is at the wrong height`;
				path[depth] = [start, width];
			}
		});
		check("labels-fit", everyFrameFits);
		check("what-a-frame-says", () => {
			const group = groups[1];
			hover(group, "mouseover");
			const said = byId("details").textContent;
			hover(group, "mouseout");
			return (said.startsWith(nameOf(group)) && / of all, [\d,]+ waits?/.test(said) ? "" : `it says ${said}; `) +
				(byId("details").textContent.startsWith("Click a frame") ? "" : "it goes on saying so");
		});
	}

	function zoomTests() {
		const group = find("client__greet"), before = picture();
		check("zoom", () => {
			click(group);
			return near("the frame's width", number(group, "width"), total()) + near("its place", number(group, "x"), 10) +
				expect("an unrelated frame is shown", shown(find("nanosleep")), false) +
				expect("an ancestor is shown as such", find("demo-client").classList.contains("a"), true) +
				near("the ancestor's width", number(find("demo-client"), "width"), total()) +
				expect("the label", group.querySelector("text").textContent, "client__greet") +
				expect("the button", byId("reset").classList.contains("off"), false) + everyFrameFits() +
				(byId("details").textContent.includes("100.0% of the view") ? "" : `it says ${byId("details").textContent}`);
		});
		check("zoom-to-an-ancestor", () => {
			click(find("peer-app"));
			return near("its width", number(find("peer-app"), "width"), total()) + expect("the thread is an ancestor",
				find("demo-client").classList.contains("a"), true) + expect("the frame is none", group.classList.contains("a"), false);
		});
		check("zoom-reset", () => {
			key("Escape");
			const escaped = picture().replaceAll(" s,", ",");
			click(group);
			byId("reset").dispatchEvent(new MouseEvent("click", { bubbles: true }));
			return expect("the picture is as before", escaped.replaceAll("f s,", "f,"), before.replaceAll("f s,", "f,")) +
				expect("and by the button", picture().replaceAll(" s,", ","), before);
		});
	}

	function searchTests() {
		const matched = () => byId("matched").textContent, marked = () => groups.filter((group) => group.classList.contains("m"));
		check("search-opens", () => {
			const event = key("f", { ctrlKey: true });
			return expect("the browser's own search", event.defaultPrevented, true) +
				expect("the box", byId("search-box").style.display, "") + expect("the focus", document.activeElement, byId("field"));
		});
		check("search", () => {
			type("tcp_delack");
			const one = matched();
			type("tcp_(delack|ack$)|^softirq:");
			const many = matched(); // the same columns, several frames of each
			type("^(nanosleep|backoff)$");
			return expect("the share", one, "Matched: 87.5%") + expect("of several", many, "Matched: 87.5%") +
				expect("the share", matched(), "Matched: 4.7%") + expect("marked frames", marked().map(nameOf).sort().join(), "backoff,nanosleep");
		});
		check("search-small-letters-match-capitals", () => {
			type("entry_syscall");
			const small = marked().length;
			type("entry_Syscall");
			return expect("small letters match", small > 0, true) + expect("capitals are meant", marked().length, 0);
		});
		check("search-with-a-fault", () => {
			type("backoff");
			type("backoff[");
			return expect("it is marked as wrong", byId("field").classList.contains("bad"), true) + expect("the share", matched(), "Matched: 4.7%");
		});
		check("search-in-a-zoom", () => {
			type("backoff");
			click(find("timer"));
			const inside = matched();
			click(find("peer-app"));
			const outside = matched();
			key("Escape", {}, byId("field"));
			key("Escape");
			return expect("in the view", inside, "Matched: 100.0%") + expect("beside it", outside, "Matched: 0.0%");
		});
		check("search-ends", () => expect("the share", matched(), "") + expect("marked frames", marked().length, 0) +
			expect("the box", byId("search-box").style.display, "none"));
	}

	function keyTests() {
		const selected = () => groups.filter((group) => group.classList.contains("s")).map(nameOf).join();
		check("arrows", () => {
			click(groups[0]);
			const steps = ["ArrowUp", "ArrowUp", "ArrowRight", "ArrowLeft", "ArrowRight", "ArrowDown"].map((name) => {
				key(name);
				return selected();
			});
			return expect("the way", steps.join(" "), "demo-client nagle-delack not-explained nagle-delack not-explained demo-client"
				.replaceAll("not-explained", nameOf(groups.filter((group) => depthOf(group) === 2)[1])));
		});
		check("enter-zooms", () => {
			key("ArrowUp");
			key("Enter");
			const zoomed = near("the width", number(find("nagle-delack"), "width"), total());
			key("Escape");
			return zoomed;
		});
		check("flip", () => {
			const before = picture(), bottom = number(groups[0], "y");
			key("i");
			const flipped = number(groups[0], "y"), above = number(groups[1], "y");
			key("i");
			return expect("the root is on top", flipped < bottom && above === flipped + 17, true) + expect("and back", picture(), before);
		});
		check("the-head-stays-in-sight", () => {
			window.scrollTo(0, 200);
			window.dispatchEvent(new Event("scroll"));
			return expect("the place", byId("bar").getAttribute("transform"), `translate(0,${window.scrollY})`) +
				expect("it can be scrolled", window.scrollY, 200);
		});
	}

	const special = {
		demo() {
			zoomTests();
			searchTests();
			keyTests();
		},
		hostile: () => check("names-are-texts", () => ["&amp:'\"", "]" + "]></text>", "x\\x0ay", "<b>&\"'\\x09</b>", "caf\u00e9", "worker_12"]
			.filter((name) => !find(name)).join()),
		deep: () => check("losses-are-told", () => expect("the lines", document.querySelectorAll("text.warn").length, 5)),
		wide: () => check("the-narrow-are-left-out-and-told", () => {
			const said = byId("pruned").textContent.match(/^Too narrow to draw: ([\d,]+) frames, ([\d.]+)% of the time in all$/);
			const ends = groups.filter((group) => nameOf(group).startsWith("job_")).reduce((sum, group) => sum + nsOf(group), 0);
			return (groups.length <= 8000 ? "" : `${groups.length} frames; `) + near("the rest, in tenths of a percent",
				1000 * (whole - ends) / whole, 10 * Number(said[2])) + expect("many are left out", Number(said[1].replace(",", "")) > 10000, true);
		}),
	};

	commonTests();
	if (special[NAME])
		special[NAME]();
	const report = document.createElementNS("http://www.w3.org/2000/svg", "desc");
	report.id = "results";
	report.textContent = "\n" + results.join("\n") + "\n";
	svg.append(report);
})();
