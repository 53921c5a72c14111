import Foundation
import Ordering

/// Finds the module of the class that a model names.
///
/// On Apple's platforms a class may be in the “global namespace” of Objective-C (`@objc(Book)`). Here a class is found
/// at run time by module and name only, and so that is what the compiled model says.
package struct ClassFinder {
    private let target: TargetSources
    private let generatedClasses: Set<String>

    /// - Parameters:
    ///   - target: the module and its sources.
    ///   - generatedClasses: the classes of the target that no source declares.
    package init(target: TargetSources, generatedClasses: [String]) {
        self.target = target
        self.generatedClasses = Set(generatedClasses)
    }

    /// - Returns: `Module.Class`, or the name as it is where it has a module already or no source declares the class.
    package func qualifiedName(of className: String) -> String {
        guard !className.contains("."), className != "NSManagedObject" else { return className }
        if generatedClasses.contains(className) || declares(className, target.paths) {
            return "\(target.moduleName).\(className)"
        }
        for (module, folder) in target.dependencies.ordered(by: { $0.key < $1.key })
        where declares(className, TargetSources.swiftFiles(in: folder)) {
            return "\(module).\(className)"
        }
        return className
    }

    /// Whether a source declares the class at its top: one in another type has a longer name.
    private func declares(_ className: String, _ paths: [String]) -> Bool {
        let pattern = "\\bclass\\s+\(NSRegularExpression.escapedPattern(for: className))\\b"
        return paths.contains { path in
            guard let text = try? String(contentsOfFile: path, encoding: .utf8), text.contains(className) else {
                return false
            }
            let code = String(decoding: CodeMask.code(of: Array(text.utf8)), as: UTF8.self)
            var rest = code[...]
            while let found = rest.range(of: pattern, options: .regularExpression) {
                if code[..<found.lowerBound].utf8.reduce(0, Self.depth) == 0 { return true }
                rest = rest[found.upperBound...]
            }
            return false
        }
    }

    /// The number of open braces after another character.
    private static func depth(_ before: Int, _ byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "{"): before + 1
        case UInt8(ascii: "}"): before - 1
        default: before
        }
    }
}
