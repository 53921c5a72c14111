import CoreData
import Foundation
import Testing

@Suite("Numbers of another type, in place and object by object")
struct NumberMigrationTests {
    private let store: MigratingStore

    init() throws { store = try MigratingStore() }

    private func model(_ type: NSAttributeType) -> NSManagedObjectModel {
        makeModel(makeEntity("Item", makeAttribute("number", type)))
    }

    /// Migrates a number both ways.
    private func migrate(
        _ number: NSNumber, _ type: NSAttributeType, _ new: NSAttributeType, isInPlace: Bool,
        _ check: (NSNumber?) -> Void = { _ in }
    ) throws {
        try store.open(model(type)) { $0.make("Item", ["number": number]) }
        func found(_ context: NSManagedObjectContext) throws {
            check(try context.all("Item").first?.value(forKey: "number") as? NSNumber)
        }
        if isInPlace {
            try store.open(model(new), found)
        } else {
            try store.migrateObjects(from: model(type), to: model(new), found)
        }
    }

    private static var beyond: [(NSNumber, NSAttributeType, NSAttributeType)] {
        [
            (70_000, .integer64AttributeType, .integer16AttributeType),
            (NSNumber(value: 3e9), .doubleAttributeType, .integer32AttributeType),
            (NSNumber(value: 1e300), .doubleAttributeType, .integer64AttributeType),
            (NSNumber(value: 0x1p63), .doubleAttributeType, .integer64AttributeType),
            (NSNumber(value: Float(0x1p63)), .floatAttributeType, .integer64AttributeType),
            (NSNumber(value: 1e300), .doubleAttributeType, .floatAttributeType),
            (NSNumber(value: -1e300), .doubleAttributeType, .decimalAttributeType),
            (NSNumber(value: 1e-300), .doubleAttributeType, .decimalAttributeType),
            (NSDecimalNumber(string: "1e50"), .decimalAttributeType, .floatAttributeType),
        ]
    }

    @Test("A number that does not fit stops the migration", arguments: 0..<9, [true, false])
    func unfitting(index: Int, isInPlace: Bool) throws {
        let (number, type, new) = Self.beyond[index]
        let error = #expect(throws: NSError.self) { try migrate(number, type, new, isInPlace: isInPlace) }
        if isInPlace {
            #expect(error?.code == 134110)
            #expect(error?.localizedDescription.contains("“Item.number”") == true)
        }
        let numbers = try store.open(model(type)) { try $0.all("Item").map { $0.value(forKey: "number") as? NSNumber } }
        #expect(numbers == [number])
    }

    private static var within: [(NSNumber, NSAttributeType, NSAttributeType, NSNumber)] {
        [
            (NSNumber(value: 3.7), .doubleAttributeType, .integer32AttributeType, 3),
            (NSNumber(value: -3.7), .doubleAttributeType, .integer16AttributeType, -3),
            (NSNumber(value: 32_767.5), .doubleAttributeType, .integer16AttributeType, 32_767),
            (NSNumber(value: -32_768.5), .doubleAttributeType, .integer16AttributeType, -32_768),
            (NSDecimalNumber(string: "2147483647.9"), .decimalAttributeType, .integer32AttributeType, 2_147_483_647),
            (NSDecimalNumber(string: "-2.9"), .decimalAttributeType, .integer64AttributeType, -2),
            (NSNumber(value: 0.5), .doubleAttributeType, .booleanAttributeType, true),
            (7, .integer64AttributeType, .booleanAttributeType, true),
            (0, .integer64AttributeType, .booleanAttributeType, false),
            (NSNumber(value: 0.25), .doubleAttributeType, .decimalAttributeType, 0.25),
            (NSNumber(value: 3e38), .doubleAttributeType, .floatAttributeType, NSNumber(value: Float(3e38))),
            (
                9_007_199_254_740_993, .integer64AttributeType, .doubleAttributeType,
                NSNumber(value: 9_007_199_254_740_992.0)
            ),
            (32_767, .integer64AttributeType, .integer16AttributeType, 32_767),
            (
                NSNumber(value: (0x1p63).nextDown), .doubleAttributeType, .integer64AttributeType,
                NSNumber(value: Int64(0x1p63.nextDown))
            ),
            (NSNumber(value: -0x1p63), .doubleAttributeType, .integer64AttributeType, NSNumber(value: Int64.min)),
        ]
    }

    @Test(
        "Fractions are cut off, every number but 0 is true, and fractions have the digits of their type",
        arguments: 0..<15, [true, false])
    func fitting(index: Int, isInPlace: Bool) throws {
        let (number, type, new, expected) = Self.within[index]
        try migrate(number, type, new, isInPlace: isInPlace) { #expect($0 == expected) }
    }
}
