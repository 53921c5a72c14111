import Foundation

/// Finds the module of the class that a model names.
///
/// On Apple's platforms a class may be in the “global namespace” of Objective-C (`@objc(Book)`). Here a class is found
/// at run time by module and name only, and so that is what the compiled model says.
package final class ClassFinder {
    private let target: TargetSources
    private let generatedClasses: Set<String>
    private lazy var own = ClassIndex(target.paths)
    /// Many models need no class of another module, whose sources may be many.
    private lazy var dependencies = target.dependencies.sorted { $0.key < $1.key }.map { module, folder in
        (module: module, classes: ClassIndex(TargetSources.swiftFiles(in: folder)).classes)
    }

    /// - Parameters:
    ///   - target: the module and its sources.
    ///   - generatedClasses: the classes of the target that no source declares.
    package init(target: TargetSources, generatedClasses: [String]) {
        self.target = target
        self.generatedClasses = Set(generatedClasses)
    }

    /// - Returns: `Module.Class`, or the name as it is: where it has a module already, where no source declares the
    ///   class, and where several modules do, since the name does not say which is meant.
    package func qualifiedName(of className: String) -> String {
        guard !className.contains("."), className != "NSManagedObject" else { return className }
        if generatedClasses.contains(className) || own.classes[className] != nil {
            return "\(target.moduleName).\(className)"
        }
        // The classes of Foundation are found by their names.
        if className.hasPrefix("NS"), NSClassFromString(className) != nil { return className }
        let found = dependencies.filter { $0.classes[className]?.isPublic == true }
        let inheriting = found.filter { $0.classes[className]?.inherits == true }
        let candidates = inheriting.isEmpty ? found : inheriting
        return candidates.count == 1 ? "\(candidates[0].module).\(className)" : className
    }
}

/// The classes that sources declare at their top. Each file is read once.
struct ClassIndex {
    /// What is known of a class.
    struct Entry {
        /// Whether other modules see it.
        var isPublic: Bool
        /// Whether it names a superclass or a protocol, as a managed object does.
        var inherits: Bool
    }

    private(set) var classes: [String: Entry] = [:]

    init(_ paths: [String]) {
        for path in paths {
            guard let data = FileManager.default.contents(atPath: path) else { continue }
            add(CodeMask.code(of: [UInt8](data)))
        }
    }

    private static let modifiers: Set<String> = [
        "public", "open", "package", "internal", "fileprivate", "private", "final", "nonisolated", "dynamic",
    ]

    /// Adds the classes outside of any braces: one in another type has a longer name.
    private mutating func add(_ code: [UInt8]) {
        var (braces, parentheses, index) = (0, 0, 0)
        var modifiers: Set<String> = []
        var isClass = false
        while index < code.count {
            let byte = code[index]
            guard Self.isLetter(byte) else {
                switch byte {
                case UInt8(ascii: "{"): (braces, modifiers, isClass) = (braces + 1, [], false)
                case UInt8(ascii: "}"): (braces, modifiers, isClass) = (max(braces - 1, 0), [], false)
                case UInt8(ascii: "("): parentheses += 1
                case UInt8(ascii: ")"): parentheses = max(parentheses - 1, 0)
                // `class` as a requirement of a protocol is followed by a comma.
                default: isClass = isClass && Self.isSpace(byte)
                }
                index += 1
                continue
            }
            let start = index
            while index < code.count, Self.isLetter(code[index]) { index += 1 }
            let before = start > 0 ? code[start - 1] : 0
            // What is in the parentheses of an attribute, and the attribute itself, say nothing of the class.
            guard braces == 0, parentheses == 0, before != UInt8(ascii: "@") else { continue }
            let word = String(decoding: code[start..<index], as: UTF8.self)
            if isClass {
                isClass = false
                let entry = Entry(
                    isPublic: !modifiers.isDisjoint(with: ["public", "open"]),
                    inherits: Self.inherits(code, from: index))
                modifiers = []
                // In branches of a condition, a class may be declared several times.
                classes[word] = Entry(
                    isPublic: entry.isPublic || classes[word]?.isPublic == true,
                    inherits: entry.inherits || classes[word]?.inherits == true)
            } else if word == "class", before != UInt8(ascii: "`"), before != UInt8(ascii: ".") {
                isClass = true
            } else if Self.modifiers.contains(word) {
                modifiers.insert(word)
            } else {
                modifiers = []
            }
        }
    }

    /// Whether a colon comes before the class's braces; that of a generic parameter is in angle brackets.
    private static func inherits(_ code: [UInt8], from start: Int) -> Bool {
        var depth = 0
        for byte in code[start...] {
            switch byte {
            case UInt8(ascii: "<"): depth += 1
            case UInt8(ascii: ">"): depth -= 1
            case UInt8(ascii: ":") where depth == 0: return true
            case UInt8(ascii: "{"): return false
            default: break
            }
        }
        return false
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
