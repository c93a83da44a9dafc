// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What goes into the formats of others: names as hostile as a process can make them. */
#include "tests/unit/test.h"
#include "user/base/escape.h"
#include "user/base/xalloc.h"
#include "user/check/judge/place.h"
#include "user/check/reports/page.h"

static char *output;
static size_t output_size;

static FILE *begin(void)
{
	free(output);
	output = NULL;
	return xmemstream(&output, &output_size);
}

static const char *xml(const char *text, bool attribute)
{
	FILE *out = begin();

	escape__xml(out, text, attribute);
	fclose(out);
	return output;
}

static void xml_has_no_way_out(void **state)
{
	(void)state;
	assert_string_equal(xml("a<b>&\"'c", false), "a&lt;b&gt;&amp;&quot;'c");
	assert_string_equal(xml("]]><failure/>", false), "]]&gt;&lt;failure/&gt;");
	assert_string_equal(xml("one\ntwo\tthree", false), "one\ntwo\tthree");
	assert_string_equal(xml("one\ntwo\tthree", true), "one&#10;two&#9;three");
}

static void xml_has_no_control_characters(void **state)
{
	(void)state;
	assert_string_equal(xml("\001\033[2J\r\177x", false), "[2Jx");
	assert_string_equal(xml("\302\205\302\233x", false), "x");           /* C1 */
	assert_string_equal(xml("a\357\277\277\357\277\276b", false), "ab"); /* U+FFFF, U+FFFE */
	assert_string_equal(xml("gr\303\274n \360\237\220\242", true),
			    "gr\303\274n \360\237\220\242");
}

static void what_is_no_utf8_is_mended(void **state)
{
	(void)state;
	assert_string_equal(xml("\377\376a", false), "\\xff\\xfea");
	assert_string_equal(xml("\300\257", false), "\\xc0\\xaf");          /* overlong */
	assert_string_equal(xml("\355\240\200", false), "\\xed\\xa0\\x80"); /* a surrogate */
	assert_string_equal(xml("\364\220\200\200", false), "\\xf4\\x90\\x80\\x80");
	assert_string_equal(xml("a\342\202", false), "a\\xe2\\x82"); /* cut off */
	assert_string_equal(xml("\342\202<", false), "\\xe2\\x82&lt;");
}

static void yaml_stays_on_its_line(void **state)
{
	FILE *out = begin();

	(void)state;
	escape__yaml(out, "a\"b\\c\n---\n\033\302\205\342\200\250\377 # x: 'y'");
	fclose(out);
	assert_string_equal(output,
			    "\"a\\\"b\\\\c\\n---\\n\\u001b\\u0085\\u2028\\\\xff # x: 'y'\"");
}

static void yaml_is_no_key_for_perl(void **state)
{
	static const char *const lines[][2] = {
		{"lost: 41 records: more", "\"lost\\x3a 41 records: more\""},
		{"worse : 1", "\"worse \\x3a 1\""},
		{":", "\"\\x3a\""},
		{"a  b: c", "\"a  b: c\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		FILE *out = begin();

		escape__yaml(out, lines[i][0]);
		fclose(out);
		assert_string_equal(output, lines[i][1]);
	}
}

static const char *github(const char *text, bool property)
{
	FILE *out = begin();

	escape__github(out, text, property);
	fclose(out);
	return output;
}

static void a_workflow_command_is_one_line(void **state)
{
	(void)state;
	assert_string_equal(github("100%\r\n::error::x, y", false), "100%25%0D%0A::error::x, y");
	assert_string_equal(github("a,line=1::b%2C", true), "a%2Cline=1%3A%3Ab%252C");
}

static void markdown_stays_in_its_cell(void **state)
{
	FILE *out = begin();

	(void)state;
	escape__markdown(out, "a|b\n<img>&`*_[x](y)@all#1~!\\");
	fclose(out);
	assert_string_equal(output,
			    "a\\|b &lt;img&gt;&amp;\\`\\*\\_\\[x\\](y)&#64;all\\#1\\~\\!\\\\");
}

static void a_fence_is_longer_than_what_it_holds(void **state)
{
	FILE *out = begin();

	(void)state;
	escape__fenced(out, "a\n````\nb");
	fclose(out);
	assert_string_equal(output, "`````text\na\n````\nb\n`````\n");
	out = begin();
	escape__fenced(out, "");
	fclose(out);
	assert_string_equal(output, "```text\n```\n");
}

static void very_long_text_goes_through(void **state)
{
	char *text = xcalloc(1, 1 << 20);
	FILE *out;

	(void)state;
	memset(text, '<', (1 << 20) - 1);
	assert_int_equal(strlen(xml(text, false)), 4 * ((1 << 20) - 1));
	out = begin();
	escape__yaml(out, text);
	fclose(out);
	assert_int_equal(output_size, (1 << 20) - 1 + 2);
	free(text);
}

/* ---- pages ---- */

static const char *page(size_t most, unsigned width, const char *const texts[],
			const unsigned *ranks)
{
	const struct render_style style = {.width = width};
	struct page *page = page__new(&style);
	FILE *out = begin();

	for (size_t i = 0; texts[i]; i++)
		page__add(page, ranks[i], 4, COLOUR_PLAIN, "%s", texts[i]);
	page__end(page, out, most);
	fclose(out);
	return output;
}

static void what_matters_least_gives_way(void **state)
{
	static const char *const texts[] = {"verdict", "detail", "stall", "detail too", NULL};
	static const unsigned ranks[] = {0, 5, 2, 5};

	(void)state;
	assert_string_equal(page(9, 80, texts, ranks), "verdict\ndetail\nstall\ndetail too\n");
	assert_string_equal(page(3, 80, texts, ranks), "verdict\ndetail\nstall\n");
	assert_string_equal(page(2, 80, texts, ranks), "verdict\nstall\n");
	assert_string_equal(page(1, 80, texts, ranks), "verdict\n");
}

static void a_paragraph_goes_as_a_whole(void **state)
{
	static const char *const texts[] = {
		"verdict", "  a paragraph of more words than go on one line of so few columns",
		"end", NULL};
	static const unsigned ranks[] = {0, 1, 0};

	(void)state;
	assert_string_equal(
		page(4, 40, texts, ranks),
		"verdict\n  a paragraph of more words than go on\n    one line of so few columns\nend\n");
	assert_string_equal(page(3, 40, texts, ranks), "verdict\nend\n");
}

static void no_line_is_a_runners_command(void **state)
{
	static const char *const texts[] = {"::error::x", "  ::set-env name=a::b",
					    "a ::x::", "see ##[group]x", NULL};
	static const unsigned ranks[] = {0, 0, 0, 0};

	(void)state;
	assert_string_equal(page(9, 80, texts, ranks),
			    ": :error::x\n  : :set-env name=a::b\n"
			    "a ::x::\nsee # #[group]x\n");
}

/* ---- places ---- */

static void relative(const char *path, const char *root, const char *wanted)
{
	char text[64], *got = place__relative(text, sizeof(text), path, root);

	if (!wanted) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, wanted);
}

static void a_file_is_named_from_the_workspace(void **state)
{
	(void)state;
	relative("/home/ci/space/src/a.c", "/home/ci/space", "src/a.c");
	relative("/home/ci/space/build/../src/./a.c", "/home/ci/space/", "src/a.c");
	relative("/home/ci/space//src///a.c", "//home/./ci/space", "src/a.c");
	relative("src/../lib/a.c", "/home/ci/space", "lib/a.c");
	relative("../lib/../../a.c", NULL, "../../a.c");
	relative("./a.c", "", "a.c");
}

static void a_file_elsewhere_has_no_line_there(void **state)
{
	(void)state;
	relative("/usr/include/x.h", "/home/ci/space", NULL);
	relative("/home/ci/spaceship/a.c", "/home/ci/space", NULL);
	relative("/home/ci/space/../other/a.c", "/home/ci/space", NULL);
	relative("/home/ci/space", "/home/ci/space", NULL);
	relative("/srv/a.c", NULL, NULL);
	relative("/srv/a.c", "srv", NULL);
	relative("", "/work", NULL);
	relative("/home/ci/space/a/path/that/is/much/longer/than/there/is/room/for/here.c",
		 "/home/ci/space", NULL);
}

static int teardown(void **state)
{
	(void)state;
	free(output);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xml_has_no_way_out),
		cmocka_unit_test(xml_has_no_control_characters),
		cmocka_unit_test(what_is_no_utf8_is_mended),
		cmocka_unit_test(yaml_stays_on_its_line),
		cmocka_unit_test(yaml_is_no_key_for_perl),
		cmocka_unit_test(a_workflow_command_is_one_line),
		cmocka_unit_test(markdown_stays_in_its_cell),
		cmocka_unit_test(a_fence_is_longer_than_what_it_holds),
		cmocka_unit_test(very_long_text_goes_through),
		cmocka_unit_test(what_matters_least_gives_way),
		cmocka_unit_test(a_paragraph_goes_as_a_whole),
		cmocka_unit_test(no_line_is_a_runners_command),
		cmocka_unit_test(a_file_is_named_from_the_workspace),
		cmocka_unit_test(a_file_elsewhere_has_no_line_there),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
