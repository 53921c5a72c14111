import Foundation

/// A request of the compiler to a macro, as JSON. Unknown fields are ignored.
package struct CompilerMessage: Decodable, Sendable {
    package var getCapability: Empty?
    package var expandAttachedMacro: Attached?
    package var expandFreestandingMacro: Freestanding?

    package struct Empty: Decodable, Sendable {}

    package struct Attached: Decodable, Sendable {
        package var macro: Macro
        /// What the macro is asked for: `member`, `memberAttribute`, `extension`, `accessor` or `peer`.
        package var macroRole: String?
        package var declSyntax: Syntax
        package var attributeSyntax: Syntax?
        package var extendedTypeSyntax: Syntax?
        package var conformanceListSyntax: Syntax?
    }

    package struct Freestanding: Decodable, Sendable {
        package var macro: Macro
    }

    package struct Macro: Decodable, Sendable {
        package var name: String
        /// The type that the macro's declaration names.
        package var typeName: String?
    }

    package struct Syntax: Decodable, Sendable {
        package var source: String
        package var location: Location?
    }

    package struct Location: Decodable, Sendable {
        package var fileName: String
        package var offset: Int
    }
}

/// The answer of a macro.
package struct CompilerAnswer: Encodable, Equatable, Sendable {
    package var getCapabilityResult: CapabilityResult?
    package var expandMacroResult: ExpansionResult?

    package struct CapabilityResult: Encodable, Equatable, Sendable {
        package var capability = Capability()
    }

    package struct Capability: Encodable, Equatable, Sendable {
        /// The version of the protocol of messages in which declarations come as text.
        package var protocolVersion = 7
    }

    package struct ExpansionResult: Encodable, Equatable, Sendable {
        package var expandedSource: String?
        package var diagnostics: [Diagnostic] = []
    }

    package struct Diagnostic: Encodable, Equatable, Sendable {
        package var message: String
        package var severity = "error"
        package var position: Position
        package var highlights: [String] = []
        package var notes: [String] = []
        package var fixIts: [String] = []
    }

    package struct Position: Encodable, Equatable, Sendable {
        package var fileName: String
        package var offset: Int
    }
}

extension CompilerMessage {
    /// The answer to it.
    ///
    /// - Parameter expand: expands a macro that is attached to a declaration. Freestanding macros expand to nothing.
    /// - Returns: the answer.
    package func answer(_ expand: (Attached) -> MacroExpansion) -> CompilerAnswer {
        if getCapability != nil { return CompilerAnswer(getCapabilityResult: CompilerAnswer.CapabilityResult()) }
        guard let attached = expandAttachedMacro else {
            let source = expandFreestandingMacro == nil ? nil : ""
            return CompilerAnswer(expandMacroResult: CompilerAnswer.ExpansionResult(expandedSource: source))
        }
        let expansion = expand(attached)
        var result = CompilerAnswer.ExpansionResult(expandedSource: expansion.source)
        result.diagnostics = expansion.problems.enumerated().map { index, problem in
            let place = expansion.places.indices.contains(index) ? expansion.places[index] : nil
            return CompilerAnswer.Diagnostic(
                message: problem, position: place.map(attached.position(at:)) ?? attached.position)
        }
        return CompilerAnswer(expandMacroResult: result)
    }
}

extension CompilerMessage.Attached {
    /// The name of the type to extend, or that the declaration has.
    package func typeName(or name: @autoclosure () -> String) -> String {
        extendedTypeSyntax.map { Self.trimmed($0.source) } ?? name()
    }

    private static func trimmed(_ text: String) -> String {
        let words = Lexer.tokens(of: text)
        guard let first = words.first, let last = words.last else { return text }
        let bytes = Array(text.utf8)
        return String(decoding: bytes[first.offset..<min(last.offset + last.length, bytes.count)], as: UTF8.self)
    }

    /// The protocols that the type lacks: the compiler sends `struct Placeholder: CoreModel {}`.
    package var conformances: [String] {
        guard let list = conformanceListSyntax else { return [] }
        let tokens = Lexer.tokens(of: list.source)
        guard let colon = tokens.firstIndex(where: { $0.isSign(":") }) else { return [] }
        return tokens[colon...].compactMap(\.name)
    }

    /// The position of what is at an offset in the declaration.
    fileprivate func position(at offset: Int) -> CompilerAnswer.Position {
        CompilerAnswer.Position(
            fileName: declSyntax.location?.fileName ?? "", offset: (declSyntax.location?.offset ?? 0) + offset)
    }

    /// The position of the attribute, at which problems are shown.
    fileprivate var position: CompilerAnswer.Position {
        let place = attributeSyntax ?? declSyntax
        let blanks = Lexer.tokens(of: place.source).first?.offset ?? 0
        return CompilerAnswer.Position(
            fileName: place.location?.fileName ?? "", offset: (place.location?.offset ?? 0) + blanks)
    }
}

/// A program that the compiler runs and asks to expand macros.
///
/// Messages come through standard input, answers go to standard output: eight bytes of length, the lowest first,
/// followed by that many bytes of JSON. The end of input, or a message of length 0, ends the program.
package enum MacroServer {
    /// Answers messages until the compiler has no more.
    ///
    /// - Parameter expand: expands a macro that is attached to a declaration.
    /// - Throws: the errors of reading, and of messages that are not JSON.
    package static func run(_ expand: (CompilerMessage.Attached) -> MacroExpansion) throws {
        while let head = try read(8) {
            let length = head.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard length > 0, length < 1 << 30, let body = try read(Int(length)) else { return }
            let message = try JSONDecoder().decode(CompilerMessage.self, from: body)
            let answer = try JSONEncoder().encode(message.answer(expand))
            let lengthBytes = (0..<8).map { UInt8(truncatingIfNeeded: answer.count >> ($0 * 8)) }
            try FileHandle.standardOutput.write(contentsOf: Data(lengthBytes) + answer)
        }
    }

    /// - Returns: exactly `count` bytes; nil at the end of input.
    private static func read(_ count: Int) throws -> Data? {
        var bytes = Data()
        while bytes.count < count {
            guard let more = try FileHandle.standardInput.read(upToCount: count - bytes.count), !more.isEmpty else {
                return nil
            }
            bytes += more
        }
        return bytes
    }
}

/// What a macro answers: source, and problems that the compiler shows.
package struct MacroExpansion: Equatable, Sendable {
    package var source: String
    /// Error messages; empty if there are none.
    package var problems: [String] = []
    /// Offsets in the declaration at which the problems are shown; the attribute's position for those that have none.
    package var places: [Int] = []

    package init(source: String = "", problems: [String] = []) {
        (self.source, self.problems) = (source, problems)
    }
}

/// The spelling of names that generated code refers to.
///
/// A program may have a type `SwiftData`, which `SwiftData.` would mean. Compilers before Swift 6.3 know no selector of
/// modules, and those before Swift 6.2 know no conformances that belong to no actor.
enum ModuleNames {
    #if compiler(>=6.3)
        static let (swift, swiftData, observation, pippin) = ("Swift::", "SwiftData::", "Observation::", "Pippin::")
    #else
        static let (swift, swiftData, observation, pippin) = ("Swift.", "SwiftData.", "Observation.", "Pippin.")
    #endif

    #if compiler(>=6.2)
        static let isolation = "nonisolated "
    #else
        static let isolation = ""
    #endif
}
