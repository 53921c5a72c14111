import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("A fetch index")
struct FetchIndexTests {
    private func creations(_ make: (NSEntityDescription) -> NSFetchIndexDescription) throws -> [String] {
        let entity = makeEntity(
            "Task", makeAttribute("title", .stringAttributeType), makeAttribute("priority", .integer16AttributeType),
            makeAttribute("isDone", .booleanAttributeType), makeToOne("list", "List", inverse: "tasks"))
        let list = makeEntity(
            "List", makeAttribute("name", .stringAttributeType), makeToMany("tasks", "Task", inverse: "list"))
        entity.indexes = [make(entity)]
        let schema = SQLSchema(layout: try makeModel(entity, list).compiledLayout())
        let root = try #require(schema.layout.entityByName["Task"])
        return schema.indexes(of: root).map(\.creation).filter { $0.contains("Z_Task_") }
    }

    private func index(
        of entity: NSEntityDescription, _ name: String, where format: String? = nil
    ) -> NSFetchIndexDescription {
        let property = entity.propertiesByName[name] ?? NSPropertyDescription()
        let index = NSFetchIndexDescription(
            name: "byIt", elements: [NSFetchIndexElementDescription(property: property, collationType: .binary)])
        index.partialIndexPredicate = format.map { NSPredicate(format: $0) }
        return index
    }

    @Test("has the condition of its rows, with its constants spelled out")
    func partial() throws {
        #expect(
            try creations { index(of: $0, "priority", where: "isDone == NO AND title != \"it's?\"") } == [
                "CREATE INDEX Z_Task_byIt ON ZTASK (ZPRIORITY COLLATE BINARY ASC) WHERE ZISDONE = 0 AND "
                    + "(ZTITLE <> 'it''s?' OR ZTITLE IS NULL)"
            ])
    }

    @Test("is not made if its condition needs another table or a function of ours")
    func impossible() throws {
        #expect(try creations { index(of: $0, "priority", where: "list.name == 'x'") } == [])
        #expect(try creations { index(of: $0, "priority", where: "title ==[c] 'x'") } == [])
    }

    @Test("over just a to-one relationship is the index that its column has anyway")
    func relationship() throws {
        #expect(try creations { index(of: $0, "list") } == [])
        #expect(
            try creations { index(of: $0, "list", where: "isDone == NO") } == [
                "CREATE INDEX Z_Task_byIt ON ZTASK (ZLIST COLLATE BINARY ASC) WHERE ZISDONE = 0"
            ])
    }

    @Test("A used model may list an index twice, as those of Apple's programs do; it is made once")
    func repeated() throws {
        let title = makeAttribute("title", .stringAttributeType)
        let entity = makeEntity("Task", title).with(index: "title", "title").with(index: "title", "title")
            .with(index: "Title", "title")
        let schema = SQLSchema(layout: try makeModel(entity).compiledLayout())
        #expect(schema.indexes.map(\.creation) == ["CREATE INDEX Z_Task_title ON ZTASK (ZTITLE COLLATE BINARY ASC)"])
    }

    @Test("has the SQL of its expression")
    func expression() throws {
        let creations = try creations { _ in
            let expression = NSExpressionDescription()
            expression.name = "size"
            expression.expression = CoreData.NSExpression(format: "abs(priority) * 2")
            return NSFetchIndexDescription(
                name: "bySize", elements: [NSFetchIndexElementDescription(property: expression, collationType: .binary)]
            )
        }
        #expect(creations == ["CREATE INDEX Z_Task_bySize ON ZTASK ((abs(ZPRIORITY) * 2) ASC)"])
    }
}

@MainActor @Suite("A store with a partial index and one over an expression")
struct FetchIndexStoreTests {
    @Test("searches them, and keeps to them when it saves")
    func searches() throws {
        let folder = try TestFolder()
        let url = folder.file("tasks.sqlite")
        let priority = Library.attribute("priority", .integer16AttributeType)
        let isDone = Library.attribute("isDone", .booleanAttributeType, defaultValue: false)
        let entity = Library.entity("Task", [priority, isDone])
        let open = NSFetchIndexDescription(
            name: "open", elements: [NSFetchIndexElementDescription(property: priority, collationType: .binary)])
        open.partialIndexPredicate = NSPredicate(format: "isDone == NO")
        let size = NSExpressionDescription()
        size.name = "size"
        size.expression = CoreData.NSExpression(format: "abs(priority)")
        let sizes = NSFetchIndexDescription(
            name: "sizes", elements: [NSFetchIndexElementDescription(property: size, collationType: .binary)])
        entity.indexes = [open, sizes]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let context = try Library.stored(at: url, model).viewContext
        for number in -3...3 { context.make("Task", ["priority": number, "isDone": number < 0]) }
        try context.save()
        let found = try context.all("Task", NSPredicate(format: "abs(priority) > 2"))
        #expect(found.count == 2)
        let plan = try plainSQL("EXPLAIN QUERY PLAN SELECT 1 FROM ZTASK t0 WHERE abs(t0.ZPRIORITY) > ?", in: url)
        #expect(plan.joined().contains("Z_Task_sizes"))
        let partial = try plainSQL(
            "EXPLAIN QUERY PLAN SELECT 1 FROM ZTASK t0 WHERE t0.ZISDONE = 0 AND t0.ZPRIORITY > 1", in: url)
        #expect(partial.joined().contains("Z_Task_open"))
    }
}

extension FetchIndexTests {
    @Test(
        "is given compound indexes of the time before fetch indexes under their names, unless a later one is there"
    )
    func compound() throws {
        func creations(_ later: String) throws -> [String] {
            let document = try SourceReaderTests.read(
                """
                <entity name="Task">
                    <attribute name="title" attributeType="String"/><attribute name="rank" attributeType="Integer 16"/>
                    \(later)
                    <compoundIndexes><compoundIndex><index value="title"/><index value="rank"/></compoundIndex>
                    </compoundIndexes>
                </entity>
                """)
            let schema = SQLSchema(layout: try ModelAssembler.model(document).compiledLayout())
            return schema.indexes(of: try #require(schema.layout.entityByName["Task"])).map(\.creation)
        }
        let columns = "(ZTITLE COLLATE BINARY ASC, ZRANK COLLATE BINARY ASC)"
        #expect(try creations("") == ["CREATE INDEX Z_Task_title_rank ON ZTASK \(columns)"])
        let later = """
            <fetchIndex name="both"><fetchIndexElement property="title" type="Binary"/>
            <fetchIndexElement property="rank" type="Binary"/></fetchIndex>
            """
        #expect(try creations(later) == ["CREATE INDEX Z_Task_both ON ZTASK \(columns)"])
    }

    @Test("A compound index over one property that is marked as indexed is made once")
    func compoundOfOne() throws {
        let document = try SourceReaderTests.read(
            """
            <entity name="Task">
                <attribute name="title" attributeType="String" indexed="YES"/>
                <compoundIndexes><compoundIndex><index value="title"/></compoundIndex></compoundIndexes>
            </entity>
            """)
        let schema = SQLSchema(layout: try ModelAssembler.model(document).compiledLayout())
        #expect(
            schema.indexes(of: try #require(schema.layout.entityByName["Task"])).map(\.creation)
                == ["CREATE INDEX Z_Task_title ON ZTASK (ZTITLE COLLATE BINARY ASC)"])
    }
}
