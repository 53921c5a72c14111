import Foundation
import Ordering

/// The `#if` blocks of a source, and the source without them.
///
/// The compiler skips such blocks altogether when it only parses. Every branch holds whole declarations though, so
/// with the lines of the directives blanked all branches are parsed, at unchanged positions; the conditions are then
/// written around what is generated, and it is the compiler that decides.
struct ConditionalBlocks {
    /// The source with blanks in place of the directives.
    private(set) var source: [UInt8]

    private struct Branch {
        var range: Range<Int>
        var condition: String
    }

    /// A block whose `#endif` is still to come.
    private struct OpenBlock {
        /// The conditions of the branches before the current one.
        var earlier: [String] = []
        var own: String?
        var start: Int

        func closed(at end: Int) -> Branch {
            let condition = (earlier.map { "!" + $0 } + (own.map { [$0] } ?? [])).joined(separator: " && ")
            return Branch(range: start..<end, condition: condition)
        }
    }

    private var branches: [Branch] = []

    /// - Parameters:
    ///   - bytes: the source.
    ///   - code: its `CodeMask`.
    init(_ bytes: [UInt8], code: [UInt8]) {
        source = bytes
        var open: [OpenBlock] = []
        var lineStart = 0
        while lineStart < code.count {
            let lineEnd = code[lineStart...].firstIndex(of: UInt8(ascii: "\n")) ?? code.count
            defer { lineStart = lineEnd + 1 }
            guard let (directive, condition) = Self.directive(code[lineStart..<lineEnd]) else { continue }
            if directive != "#if", let block = open.popLast() {
                branches.append(block.closed(at: lineStart))
                if directive != "#endif" {
                    let earlier = block.earlier + (block.own.map { [$0] } ?? [])
                    let own = directive == "#elseif" ? condition : nil
                    open.append(OpenBlock(earlier: earlier, own: own, start: lineEnd))
                }
            } else if directive == "#if" {
                open.append(OpenBlock(own: condition, start: lineEnd))
            }
            for offset in lineStart..<lineEnd { source[offset] = UInt8(ascii: " ") }
        }
    }

    /// The directive on a line, if it is one of conditional compilation, and its condition in parentheses.
    private static func directive(_ line: ArraySlice<UInt8>) -> (name: String, condition: String)? {
        guard line.contains(UInt8(ascii: "#")) else { return nil }
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let name = String(text.prefix { $0 == "#" || $0.isLetter })
        guard ["#if", "#elseif", "#else", "#endif"].contains(name) else { return nil }
        return (name, "(\(text.dropFirst(name.count).trimmingCharacters(in: .whitespaces)))")
    }

    /// The source without the branches that ask for a version of Swift as well: this compiler need not understand them.
    var sourceWithoutVersions: [UInt8] {
        var result = source
        for branch in branches {
            let own = branch.condition.components(separatedBy: " && ").last ?? ""
            guard !own.hasPrefix("!"), own.contains("swift(") || own.contains("compiler(") else { continue }
            for offset in branch.range where result[offset] != UInt8(ascii: "\n") { result[offset] = UInt8(ascii: " ") }
        }
        return result
    }

    /// The conditions that a position lies under, outermost first.
    func conditions(at offset: Int) -> [String] {
        branches.filter { $0.range.contains(offset) }.ordered { $0.range.count > $1.range.count }.map(\.condition)
    }
}
