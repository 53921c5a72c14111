import CoreData
import StoreReading
import Testing

@testable import PippinCommand

@Suite("Rendering")
struct RenderingTests {
    @Test(
        "Dates are ISO 8601 in UTC, with as many decimals as they have",
        arguments: [
            (0.0, "2001-01-01T00:00:00Z"), (-1, "2000-12-31T23:59:59Z"), (0.5, "2001-01-01T00:00:00.500Z"),
            (737_057_646.843063, "2024-05-10T18:14:06.843063Z"), (-978_307_200, "1970-01-01T00:00:00Z"),
            (5_097_599, "2001-02-28T23:59:59Z"), (94_694_400, "2004-01-02T00:00:00Z"),
            (-63_114_076_800, "0001-01-01T00:00:00Z"), (-13_197_600_001, "1582-10-04T23:59:59Z"),
            (-13_197_600_000, "1582-10-15T00:00:00Z"), (-15_804_201_600, "1500-02-29T00:00:00Z"),
            (-63_145_699_200, "0000-01-01T00:00:00Z"), (252_423_907_200, "9999-12-31T00:00:00Z"),
        ])
    func dates(seconds: Double, text: String) {
        #expect(TextTools.iso8601(seconds) == text)
    }

    @Test("JSON escapes what it must, and what the terminal would obey")
    func json() throws {
        let text = "a \"b\" \\ \n\t\u{1}\u{7F} ü 🍏\u{80}\u{9F}\u{A0}\u{C2}\r\n\u{1F}"
        let escaped = #""a \"b\" \\ \n\t\u0001\u007f ü 🍏\u0080\u009f"# + "\u{A0}\u{C2}" + #"\r\n\u001f""#
        #expect(JSONText.string(text) == escaped)
        let read = try JSONSerialization.jsonObject(with: Data("[\(JSONText.string(text))]".utf8)) as? [String]
        #expect(read == [text])
        #expect(JSONText.number(.infinity) == "\"inf\"")
        #expect(JSONText.object([("a", "1"), ("b", "null")]) == #"{"a": 1, "b": null}"#)
    }

    @Test("Texts of a table keep their joiners, and nothing that is invisible or moves the rest")
    func plain() {
        #expect(TextTools.plain("👨‍👩‍👧 می‌خواهم ؀۱۲") == "👨‍👩‍👧 می‌خواهم ؀۱۲")
        #expect(TextTools.plain("a\u{202E}b\u{200B}c\u{1B}[1m\u{2028}\u{E0041}") == "a b c [1m  ")
    }

    @Test(
        "Values are written for a person",
        arguments: [
            (FieldValue.null, "–"), (.boolean(true), "yes"), (.string("a\n\u{1B}[31m"), #""a\n\u{1b}[31m""#),
            (
                .string(String(repeating: "x", count: 120)),
                "\"\(String(repeating: "x", count: 100))\"… (120 characters)"
            ),
            (.data(Data([0x01, 0xAB])), "2 bytes: 01ab"), (.date(0), "2001-01-01 00:00:00 UTC"),
            (.objects([]), "→ none"),
            (.composite([.init(name: "x", value: .integer(1))]), "{ x: 1 }"), (.decimal("10.11"), "10.11"),
        ])
    func values(value: FieldValue, text: String) {
        #expect(DumpText.text(of: value) == text)
    }

    @Test("Numbers, counts and sizes")
    func numbers() {
        #expect(TextTools.grouped(1_234_567) == "1,234,567")
        #expect(TextTools.grouped(-100) == "-100")
        #expect(TextTools.count(1, "object") == "1 object")
        #expect(TextTools.size(999) == "999 bytes")
        #expect(TextTools.size(1_863_680) == "1.9 MB")
    }
}
