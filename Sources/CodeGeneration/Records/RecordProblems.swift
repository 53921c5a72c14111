/// A name in a model of which no Swift can be made, and where it stands.
package struct RecordProblem: Sendable, Hashable, CustomStringConvertible {
    package var entity: String
    /// Nil where the entity's class is meant.
    package var property: String?
    /// The problem, as a sentence without its full stop.
    package var reason: String

    /// `entity “Book”, property “title”: …`
    package var description: String {
        "entity “\(entity.escaped)”" + (property.map { ", property “\($0.escaped)”" } ?? "") + ": \(reason)"
    }
}

extension RecordModel {
    /// The reasons why classes of a model cannot be generated, or would not have the model's properties.
    ///
    /// - Parameters:
    ///   - all: whether entities count, too, for which no class is to be generated.
    ///   - knowsModule: whether names of classes omit the name of the module that they are generated for.
    /// - Returns: the problems, in the order of the entities; none when the classes can be generated.
    package func problems(all: Bool = false, knowsModule: Bool = true) -> [RecordProblem] {
        let collisions = NameCollisions(self)
        return entities.filter { all || ($0.codeGeneration != .none && $0.hasOwnClass) }.flatMap { entity in
            problems(entity, knowsModule)
                + collisions.problems(of: entity).map { property, reason in
                    RecordProblem(entity: entity.name, property: property, reason: reason)
                }
        }
    }

    private func problems(_ entity: RecordEntity, _ knowsModule: Bool) -> [RecordProblem] {
        func problem(_ property: String?, _ reason: String) -> RecordProblem {
            RecordProblem(entity: entity.name, property: property, reason: reason)
        }
        var problems: [RecordProblem] = []
        func checkClass(_ name: String?, _ property: String?, _ what: String) {
            guard let name, !SwiftIdentifier.isPath(name) else { return }
            problems.append(problem(property, "\(what) “\(name.escaped)” is no name of a class in Swift"))
        }
        checkClass(entity.className, nil, "its class")
        if knowsModule, entity.codeGeneration == .class, entity.className.contains("."), problems.isEmpty {
            problems.append(
                problem(
                    nil, "its class “\(entity.className.escaped)” is in another module, where none can be generated"))
        }
        checkClass(self.entity(entity.parent)?.className, nil, "the class of its parent")
        for attribute in entity.attributes {
            checkName(attribute.name)
            if attribute.type == .transformable, let type = attribute.customClass, TypeExpression(type) == nil {
                problems.append(problem(attribute.name, "its custom class “\(type.escaped)” is no type in Swift"))
            }
        }
        for relationship in entity.relationships {
            checkName(relationship.name)
            checkClass(
                self.entity(relationship.destination)?.className, relationship.name, "the class of its destination")
        }
        for property in entity.fetchedProperties {
            checkName(property.name)
            checkClass(self.entity(property.destination)?.className, property.name, "the class of what it fetches")
        }
        func checkName(_ name: String) {
            // The names of helpers begin in the middle, and their first letter may become several.
            guard !SwiftIdentifier.isIdentifier(name) || !SwiftIdentifier.isIdentifier("_" + name.capitalizedFirst)
            else {
                return
            }
            problems.append(
                problem(name, "its name is no identifier in Swift: letters, digits and _ only, and no digit first"))
        }
        return problems
    }
}
