import CoreData
import Foundation
import Testing

/// What Core Data prints of models and requests, as its logs show it. An address is printed as `0x0` here.
struct DescriptionTests {
    private func text(_ object: NSObject) -> String {
        object.description.replacingOccurrences(of: "0x[0-9a-f]+", with: "0x0", options: .regularExpression)
    }

    private func makeModel() -> NSManagedObjectModel {
        let name = NSAttributeDescription()
        (name.name, name.attributeType, name.defaultValue) = ("name", .stringAttributeType, "New Item")
        name.setValidationPredicates([NSPredicate(format: "length > 0")], withValidationWarnings: ["too short"])
        let boxes = NSRelationshipDescription()
        (boxes.name, boxes.minCount, boxes.maxCount) = ("box", 0, 1)
        let item = NSEntityDescription()
        item.name = "Item"
        item.properties = [name, boxes]
        item.uniquenessConstraints = [["name"]]
        boxes.destinationEntity = item
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    @Test("A fetch request prints its entity, predicate and order")
    func request() {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        #expect(
            text(request)
                == "<NSFetchRequest: 0x0> (entity: Item; predicate: ((null)); sortDescriptors: ((null)); type: NSManagedObjectResultType; )"
        )
    }

    @Test("A fetch request prints what differs from a new one")
    func requestWithEverything() {
        let request = NSFetchRequest<NSDictionary>(entityName: "Item")
        request.predicate = NSPredicate(format: "name CONTAINS %@", "e")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        request.fetchLimit = 3
        request.fetchOffset = 2
        request.fetchBatchSize = 20
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        #expect(
            text(request) == """
                <NSFetchRequest: 0x0> (entity: Item; predicate: (name CONTAINS "e"); sortDescriptors: ((
                    "(name, descending, compare:)"
                )); limit: 3; offset: 2; batch size: 20; type: NSDictionaryResultType; propertiesToFetch: (
                    name
                ); )
                """)
    }

    @Test("An entity prints its properties as texts of a dictionary")
    func entity() throws {
        let model = makeModel()
        let item = try #require(model.entitiesByName["Item"])
        #expect(
            text(item) == #"""
                (<NSEntityDescription: 0x0>) name Item, managedObjectClassName NSManagedObject, renamingIdentifier Item, isAbstract 0, superentity name (null), properties {
                    box = "(<NSRelationshipDescription: 0x0>), name box, isOptional 1, isTransient 0, entity Item, renamingIdentifier box, validation predicates (\n), warnings (\n), versionHashModifier (null)\n userInfo {\n}, destination entity Item, inverseRelationship (null), minCount 0, maxCount 1, isOrdered 0, deleteRule 1";
                    name = "(<NSAttributeDescription: 0x0>), name name, isOptional 1, isTransient 0, entity Item, renamingIdentifier name, validation predicates (\n    length > 0\n), warnings (\n    \"too short\"\n), versionHashModifier (null)\n userInfo {\n}, attributeType 700 , attributeValueClassName NSString, defaultValue New Item, preservesValueInHistoryOnDeletion NO";
                }, subentities {
                }, userInfo {
                }, versionHashModifier (null), uniquenessConstraints (
                    name
                )
                """#)
    }

    @Test("A model prints the names of its entities, and all of them for a debugger")
    func model() {
        let model = makeModel()
        #expect(
            text(model) == """
                (<NSManagedObjectModel: 0x0>) isEditable 1, entities {
                    Item = Item;
                }, fetch request templates {
                }
                """)
        #expect(model.debugDescription.contains(#"Item = "(<NSEntityDescription: 0x"#))
    }
}
