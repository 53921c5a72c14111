import Foundation

/// A source with its syntax tree and its conditional blocks.
struct ParsedSource: Sendable {
    let source: SourceText
    /// The source without comments and strings, see `CodeMask`.
    let code: [UInt8]
    let tree: SyntaxTree
    private let blocks: ConditionalBlocks

    /// - Returns: `nil` if the source does not parse: the compiler that builds the target says why.
    init?(_ source: SourceText, compiler: SwiftCompiler) throws {
        self.source = source
        code = CodeMask.code(of: source.bytes)
        blocks = ConditionalBlocks(source.bytes, code: code)
        // A branch may be for another compiler; left in place, directives keep this one from all of them.
        var tried: [[UInt8]] = []
        for text in [blocks.source, blocks.sourceWithoutVersions, source.bytes] where !tried.contains(text) {
            if let tree = try compiler.parse(text, named: source.fileName) {
                self.tree = tree
                return
            }
            tried.append(text)
        }
        return nil
    }

    /// The conditions of the `#if` blocks around a position.
    func conditions(at offset: Int) -> [String] {
        blocks.conditions(at: offset)
    }

    /// The bytes of a node, its last token included.
    func range(of node: SyntaxNode) -> Range<Int>? {
        guard let (start, end) = node.range, start <= end, end < code.count else { return nil }
        return start..<self.end(ofTokenAt: end)
    }

    /// The code of some bytes, without comments, on one line.
    func code(_ range: Range<Int>) -> String {
        String(decoding: code[range.clamped(to: 0..<code.count)], as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private func end(ofTokenAt start: Int) -> Int {
        var end = start + 1
        if code[start] == UInt8(ascii: "`") {
            while end < code.count, code[end] != UInt8(ascii: "`") { end += 1 }
            return min(end + 1, code.count)
        }
        guard code[start].isPartOfIdentifier else { return end }
        while end < code.count, code[end].isPartOfIdentifier { end += 1 }
        return end
    }
}

extension UInt8 {
    /// Whether the byte can be part of an identifier or a number; those beyond ASCII can.
    var isPartOfIdentifier: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}

extension StringProtocol {
    /// The parts between the separators that lie outside of all brackets.
    func splitOutsideBrackets(at separator: Character) -> [String] {
        var parts = [""]
        var depth = 0
        var previous: Character = " "
        for character in self {
            switch character {
            case "(", "[", "<", "{": depth += 1
            // The arrow of a function type closes nothing.
            case ">" where previous == "-": break
            case ")", "]", ">", "}": depth -= 1
            default: break
            }
            previous = character
            if character == separator, depth == 0 {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    }
}
