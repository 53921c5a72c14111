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
        branches.filter { $0.range.contains(offset) }.sorted { $0.range.count > $1.range.count }.map(\.condition)
    }
}

/// The text of one source file, with positions by byte, as the compiler counts them.
struct SourceText: Sendable {
    let path: String
    let bytes: [UInt8]
    private let lineStarts: [Int]

    init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
        lineStarts = starts
    }

    init(path: String, text: String) {
        self.init(path: path, bytes: Array(text.utf8))
    }

    /// Reads a file.
    /// - Throws: `GenerationFailure`, naming the file.
    init(contentsOf path: String) throws {
        do {
            self.init(path: path, bytes: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
        } catch {
            throw GenerationFailure(file: path, "the file cannot be read: \(error.localizedDescription)")
        }
    }

    /// The file's name without its folder.
    var fileName: String { (path as NSString).lastPathComponent }

    /// Line and column of a byte, both counted from 1.
    func position(of offset: Int) -> (line: Int, column: Int) {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return (low + 1, offset - lineStarts[low] + 1)
    }

    /// A problem at a byte of this file.
    func problem(at offset: Int, _ message: String) -> Problem {
        let (line, column) = position(of: offset)
        return Problem(file: path, line: line, column: column, message: message)
    }

    /// The text of some bytes.
    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range.clamped(to: 0..<bytes.count)], as: UTF8.self)
    }
}

/// The access level of a declaration, as far as generated code depends on it.
enum Access: Sendable, Equatable {
    case `private`, `fileprivate`
    /// `internal` or `package`: within the module at least.
    case module(String?)
    /// `public` or `open`.
    case `public`

    init(_ keyword: String?) {
        switch keyword {
        case "private": self = .private
        case "fileprivate": self = .fileprivate
        case "public", "open": self = .public
        case "package": self = .module("package")
        default: self = .module(nil)
        }
    }

    var isLimitedToFile: Bool { self == .private || self == .fileprivate }
}

/// A type that a source declares, with the types inside it.
struct TypeDeclaration: Sendable {
    /// `class`, `struct`, `enum`, `protocol` or `typealias`.
    var keyword: String
    var name: String
    /// The types around it, outermost first; for a type in an extension, the extended type comes first.
    var enclosing: [String]
    /// The generic parameters without their constraints: `<Key, Value>`.
    var genericParameters: String
    /// The type that a `typealias` stands for.
    var aliased: String?
    /// The first name after the colon of a class: its superclass, or a protocol.
    var superclass: String?
    var access: Access
    var conditions: [String]
    /// The offset of its name.
    var offset: Int

    var path: [String] { enclosing + [name] }
}

/// A property or method that is declared `@NSManaged`.
struct ManagedDeclaration: Sendable {
    enum Kind: Sendable, Equatable {
        case property(type: String, setterAccess: Access?)
        case method(parameters: [Parameter], result: String?)
    }

    struct Parameter: Sendable, Equatable {
        /// As written before the colon: `_ value`, `at index`, `value`.
        var names: String
        var type: String

        /// The label at the call, `nil` for `_`.
        var label: String? {
            let label = names.split(separator: " ").first.map(String.init)
            return label == "_" ? nil : label
        }

        /// The name inside the method.
        var name: String { names.split(separator: " ").last.map(String.init) ?? names }
    }

    var kind: Kind
    /// As written, in backticks if it was.
    var name: String
    /// The class that the declaration belongs to, as a path of type names.
    var owner: [String]
    /// Whether it stands in an extension.
    var isInExtension: Bool
    /// The access level, inherited from the extension where the declaration has none.
    var access: Access
    var conditions: [String]
    /// The offset of the attribute.
    var offset: Int

    /// The name without backticks: the key.
    var plainName: String { name.filter { $0 != "`" } }
}

/// A method that checks the values of one property, by Core Data's naming: `validateTitle(_:)`.
struct ValidatorDeclaration: Sendable {
    static let prefix = "validate"
    /// The type of its parameter, by which it differs from other methods of such names.
    static let parameterType = "AutoreleasingUnsafeMutablePointer<AnyObject?>"

    var name: String
    /// The class that the method belongs to, as a path of type names.
    var owner: [String]
    var access: Access
    var conditions: [String]
    /// The offset of the declaration.
    var offset: Int

    /// The key with a capital: `Title`.
    var capitalizedKey: String { String(name.dropFirst(Self.prefix.count)) }
}

/// The declarations of one source.
struct SourceDeclarations: Sendable {
    let source: SourceText
    var types: [TypeDeclaration] = []
    var managed: [ManagedDeclaration] = []
    var validators: [ValidatorDeclaration] = []
    /// The modules it imports, with the conditions of each.
    var imports: [ModuleImport] = []
    var problems: [Problem] = []
}

/// An `import` declaration.
struct ModuleImport: Sendable, Hashable {
    /// `Foundation`, or `Darwin.C`.
    var module: String
    var isPublic: Bool
    var conditions: [String]
}
