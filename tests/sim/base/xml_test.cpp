#include "base/xml.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(EscapeXml, TextStaysText) {
    EXPECT_EQ(escape_xml("a < b && c > d"), "a &lt; b &amp;&amp; c &gt; d");
    EXPECT_EQ(escape_xml("&lt;"), "&amp;lt;");
    EXPECT_EQ(escape_xml("chunk 4Ki, \"dense\""), "chunk 4Ki, \"dense\"");
    EXPECT_EQ(escape_xml(""), "");
}

}  // namespace
}  // namespace headroom
