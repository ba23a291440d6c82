// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/table_test.cc -- columns, and text that comes from others.
#include "ctl-tool/table.h"

#include <doctest/doctest.h>

using namespace livebtl::tool;

TEST_CASE("tables line up, and numbers stand to the right") {
  Table table({"NAME", "N>"});
  table.add({"a", "100"});
  table.add({"long", "1"});
  CHECK(table.text({}) == "NAME    N\na     100\nlong    1\n");
}

TEST_CASE("columns of a table are those of the terminal, not bytes") {
  Table table({"NAME", "N>"});
  table.add({"J\xc3\xbcrgen", "1"});                        // two bytes, one column
  table.add({"e\xcc\x81t\xc3\xa9", "2"});                   // a combining accent takes no column
  table.add({"\xe6\x97\xa5\xe6\x9c\xac", "\xe2\x82\xac"});  // wide: two columns each
  table.add({"\xc3(\xff", "4"});                            // not UTF-8: a column per byte
  CHECK(table.text({}) ==
        "NAME    N\n"
        "J\xc3\xbcrgen  1\n"
        "e\xcc\x81t\xc3\xa9     2\n"
        "\xe6\x97\xa5\xe6\x9c\xac    \xe2\x82\xac\n"
        "\xc3(\xff     4\n");
  CHECK(columns_of("") == 0);
  CHECK(columns_of("\xe2\x82") == 2);  // cut off
  CHECK(columns_of("\xf0\x9f\x9a\x80") == 2);
}

TEST_CASE("text from others cannot move the cursor") {
  CHECK(printable("a\033[2Jb\n") == "a?[2Jb?");
  CHECK(printable("J\xc3\xbcrgen \xe2\x82\xac") == "J\xc3\xbcrgen \xe2\x82\xac");
  CHECK(printable("\xc2\x9b"
                  "2J\x9b\xc3(\xe2\x82") ==
        "?2J?"
        "?(?"
        "?");
  CHECK(printable("a\xe2\x80\xae"
                  "b") == "a?b");  // it would be displayed from right to left
  CHECK(printable_lines("a\n\x1b\n\nb") == "a\n?\n\nb");
  CHECK(human_bytes(1536) == "1.5 KiB");
  CHECK(human_bytes(12) == "12 B");
}
