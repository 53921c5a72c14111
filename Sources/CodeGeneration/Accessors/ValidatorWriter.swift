import Ordering

/// Writes what lets Core Data call methods such as `validateTitle(_:)`, which the Objective-C runtime finds by name.
///
/// Each class with such methods gets a class beside it, which calls them by their keys, and which Core Data finds by
/// its name.
enum ValidatorWriter {
    /// - Parameter sources: the sources of a module.
    /// - Returns: the declarations; empty if there are no such methods.
    /// - Throws: `GenerationFailure` with the methods that another file cannot call.
    static func text(_ sources: [SourceDeclarations]) throws -> String {
        let problems = sources.flatMap { source in
            source.validators.filter(\.access.isLimitedToFile).map { validator in
                source.source.problem(
                    at: validator.offset,
                    "Core Data calls “\(validator.name)(_:)” from generated code in another file, which cannot see "
                        + "it: make the method and its class internal")
            }
        }
        guard problems.isEmpty else { throw GenerationFailure(problems.sorted()) }
        let groups = Dictionary(grouping: sources.flatMap(\.validators), by: \.owner)
        return groups.keys.ordered { $0.joined() < $1.joined() }
            .map { text(of: groups[$0] ?? [], in: $0) }.joined(separator: "\n")
    }

    private static func text(of validators: [ValidatorDeclaration], in owner: [String]) -> String {
        let type = owner.joined(separator: ".")
        let cases = validators.flatMap { validator in
            let lines = [
                "        case \(validator.capitalizedKey.asLiteral): try object.\(validator.name)(value)"
            ]
            guard !validator.conditions.isEmpty else { return lines }
            return ["        #if \(validator.conditions.joined(separator: " && "))"] + lines + ["        #endif"]
        }
        return """
            \(AccessorWriter.isolation)final class _ValidatorsOf_\(owner.joined(separator: "_")): NamedValidators {
                static var validatedClass: NSManagedObject.Type { \(type).self }

                static func validate(
                    _ object: NSManagedObject, _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>,
                    forCapitalizedKey key: String
                ) throws -> Bool {
                    guard let object = object as? \(type) else { return false }
                    switch key {
            \(cases.joined(separator: "\n"))
                    default: return false
                    }
                    return true
                }
            }

            """
    }
}
