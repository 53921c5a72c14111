import Testing

@testable import CoreDataModel
@testable import SQLGeneration

@Suite("What a database says of equal unique values")
struct UniqueViolationTests {
    private let schema: SQLSchema

    init() throws {
        let model = NSManagedObjectModel()
        let vehicle = makeEntity(
            "Vehicle", makeAttribute("maker", .stringAttributeType), makeAttribute("plate", .stringAttributeType))
        let bus = makeEntity("Bus", makeAttribute("seats", .integer16AttributeType))
        vehicle.subentities = [bus]
        model.entities = [bus, vehicle]
        schema = SQLSchema(layout: try model.compiledLayout())
    }

    @Test("names the entity that declares the properties, in the model's names")
    func sqlite() throws {
        let found = UniqueViolation(sqlite: "UNIQUE constraint failed: ZVEHICLE.ZMAKER, ZVEHICLE.ZPLATE", schema)
        #expect(found?.entity == "Vehicle")
        #expect(found?.properties == ["maker", "plate"])
        #expect(found?.description == "two objects of “Vehicle” with the same maker, plate")
    }

    @Test("names a subentity for a property of its own")
    func subentity() throws {
        #expect(UniqueViolation(sqlite: "UNIQUE constraint failed: ZVEHICLE.ZSEATS", schema)?.entity == "Bus")
    }

    @Test(
        "names nothing for what is not a property's column",
        arguments: [
            "UNIQUE constraint failed: ZVEHICLE.ZCOLOR", "UNIQUE constraint failed: ZBOAT.ZMAKER",
            "UNIQUE constraint failed: index 'theirs'", "UNIQUE constraint failed: ZVEHICLE.ZMAKER, ZBOAT.ZNAME", "",
        ])
    func others(sentence: String) throws {
        #expect(UniqueViolation(sqlite: sentence, schema) == nil)
    }

    @Test(
        "reads a server's detail in each language",
        arguments: [
            "Key (ZMAKER, ZPLATE)=(Tesla, (B)=(1) already exists.",
            "Schlüssel »(ZMAKER, ZPLATE)=(Tesla, B-1)« existiert bereits.",
            "キー(ZMAKER, ZPLATE)=(Tesla, B-1)はすでに存在します。",
        ])
    func postgres(detail: String) throws {
        let found = UniqueViolation(postgres: detail, schema) { $0 == "ZVEHICLE" }
        #expect(found?.properties == ["maker", "plate"])
        #expect(UniqueViolation(postgres: detail, schema) { $0 == "ZBOAT" } == nil)
    }

    @Test("reads no detail without columns", arguments: ["", "Key exists.", ")=("])
    func noColumns(detail: String) throws {
        #expect(UniqueViolation(postgres: detail, schema) { _ in true } == nil)
    }
}
