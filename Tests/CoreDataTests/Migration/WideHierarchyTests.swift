import CoreData
import Testing

@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("A hierarchy of many entities")
struct WideHierarchyTests {
    /// A thousand entities that inherit relationships among their root's objects.
    private func model(_ added: NSAttributeDescription...) -> NSManagedObjectModel {
        let root = makeEntity("Root", makeAttribute("name", .stringAttributeType))
        for number in 0..<3 {
            root.properties += [
                makeToMany("parts\(number)", "Root", inverse: nil), makeToOne("next\(number)", "Root", inverse: nil),
            ]
        }
        let derived = NSDerivedAttributeDescription()
        (derived.name, derived.attributeType, derived.isOptional) = ("low", .stringAttributeType, true)
        derived.derivationExpression = NSExpression(format: "lowercase:(name)")
        root.properties += [derived] + added
        root.subentities = (0..<1_000).map { makeEntity("Sub\($0)") }
        let model = NSManagedObjectModel()
        model.entities = [root] + root.subentities
        return model
    }

    @Test("is migrated by few statements, which are made at once", .timeLimit(.minutes(1)))
    func plan() throws {
        let (source, destination) = (model(), model(makeAttribute("added", .stringAttributeType)))
        let plan = try MappingInference.plan(from: source, to: destination)
        let schemas = (
            SQLSchema(layout: try source.compiledLayout()), SQLSchema(layout: try destination.compiledLayout())
        )
        var structure = StoreStructure()
        for table in schemas.0.tables + schemas.0.joinTables.map(\.table) {
            structure.tables[table.name] = table.columns
        }
        let migration = try LightweightMigration(plan: plan, from: schemas.0, to: schemas.1, structure: structure)
        let steps = migration.steps.map(\.sql).filter { $0.hasPrefix("ALTER") || $0.hasPrefix("UPDATE ZROOT") }
        #expect(steps == ["ALTER TABLE ZROOT ADD COLUMN ZADDED VARCHAR"])
    }

    @Test("has the former relationships of each of its relationships found once")
    func formers() throws {
        let (source, destination) = (model(), model(makeAttribute("added", .stringAttributeType)))
        let plan = try MappingInference.plan(from: source, to: destination)
        let pair = SchemaPair(
            plan: plan, from: SQLSchema(layout: try source.compiledLayout()),
            to: SQLSchema(layout: try destination.compiledLayout()), SQLiteColumns())
        let root = try #require(pair.destination.layout.entityByName["Root"])
        for relationship in root.relationships {
            let formers = pair.formers(relationship)
            #expect(formers.map(\.layout.name) == [relationship.name])
            var finds = 0
            _ = pair.known.formers(relationship) {
                finds += 1
                return []
            }
            #expect(finds == 0)
        }
    }
}
