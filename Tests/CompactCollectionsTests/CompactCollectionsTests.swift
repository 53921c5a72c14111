import Foundation
import Testing

@Suite("Collections' methods that are compiled once")
struct CompactCollectionsTests {
    private static func numbers(_ count: Int, _ generator: inout some RandomNumberGenerator) -> [Int] {
        (0..<count).map { _ in .random(in: 0..<20, using: &generator) }
    }

    @Test("answer what the standard library's answer", arguments: [0, 1, 2, 9, 60])
    func answers(count: Int) {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let (one, other) = (Self.numbers(count, &generator), Self.numbers(count, &generator))
            #expect(Compact.sequences(one) == Reference.sequences(one))
            #expect(Compact.dictionaries(one) == Reference.dictionaries(one))
            #expect(Compact.sets(one, other) == Reference.sets(one, other))
        }
    }

    @Test("are those that a file calls that imports them, and no other file")
    func sameText() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        func body(_ name: String) throws -> Substring {
            let text = try String(contentsOf: folder.appendingPathComponent(name + ".swift"), encoding: .utf8)
            return text[try #require(text.range(of: "enum \(name) {")).upperBound...]
        }
        #expect(try body("Compact") == body("Reference"))
    }
}
