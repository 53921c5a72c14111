/// Writes the record classes of a model as Xcode does, by the code-generation setting of each entity.
///
/// What is `@NSManaged` in Xcode's files is a computed property here, over the same run-time part as the accessors
/// of hand-written `@NSManaged` declarations.
package struct RecordClassWriter {
    private let model: RecordModel

    package init(model: RecordModel) {
        self.model = model
    }

    /// - Parameters:
    ///   - header: the comment at the top; `nil` for the plugin's.
    ///   - file: the model, for errors.
    ///   - line: finds the line of a problem in the file.
    /// - Returns: the text of the file with the model's classes.
    /// - Throws: `GenerationFailure` that names every name of which no Swift can be made, and its place in the model.
    package func source(
        header: String? = nil, file: String, line: (RecordProblem) -> Int? = { _ in nil }
    ) throws -> String {
        let problems = model.problems()
        guard problems.isEmpty else {
            throw GenerationFailure(
                problems.map { problem in
                    let line = line(problem)
                    return Problem(file: file, line: line, column: line.map { _ in 1 }, message: problem.description)
                })
        }
        let header = header ?? AccessorWriter.header
        let entities = model.entities.filter { $0.codeGeneration != .none && $0.hasOwnClass }
        guard !entities.isEmpty else {
            return header + "// No entity of the model has its code generated.\n"
        }
        var keys: Set<String> = []
        let sections = entities.map { section($0, &keys) }
        return header + """
            @_spi(GeneratedCode) import CoreData
            import Foundation

            \(PropertyKeys.text(keys))
            \(sections.joined(separator: "\n"))
            """
    }

    private func section(_ entity: RecordEntity, _ keys: inout Set<String>) -> String {
        let name = entity.className.asTypeName
        let isolation = AccessorWriter.isolation
        let members = (entity.isOnlyOfClass ? [fetchRequest(entity)] : []) + properties(entity, &keys)
        var text = "// MARK: - \(entity.name.escaped)\n\n"
        if entity.codeGeneration == .class {
            let superclass = model.entity(entity.parent)?.className.asTypeName ?? "NSManagedObject"
            text += "\(isolation)public class \(name): \(superclass) {\n\(members.joined(separator: "\n"))}\n"
        } else {
            text += "\(isolation)extension \(name) {\n\(members.joined(separator: "\n"))}\n"
        }
        for relationship in entity.relationships where relationship.isToMany {
            let helpers = RelationshipHelpers(
                relationship: relationship, destination: relationship.destinationClass(in: model))
            text += "\n// Accessors for \(relationship.name)\n\(isolation)extension \(name) {\n\(helpers.text())}\n"
        }
        // A subclass is identifiable because its superclass is.
        if model.entity(entity.parent)?.hasOwnClass != true {
            text += "\n\(isolation)extension \(name): Identifiable {}\n"
        }
        return text
    }

    private func fetchRequest(_ entity: RecordEntity) -> String {
        """
            @nonobjc public class func fetchRequest() -> NSFetchRequest<\(entity.className.asTypeName)> {
                NSFetchRequest<\(entity.className.asTypeName)>(entityName: \(entity.name.asLiteral))
            }

        """
    }

    private func properties(_ entity: RecordEntity, _ keys: inout Set<String>) -> [String] {
        entity.types(in: model).map { name, type in
            keys.insert(name)
            let calls = PropertyAccess(key: name, type: type)
            return """
                    public var \(name.asIdentifier): \(type) {
                        get { \(calls.getter) }
                        set { \(calls.setter) }
                    }

                """
        }
    }
}
