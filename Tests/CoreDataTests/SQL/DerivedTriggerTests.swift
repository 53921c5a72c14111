import Foundation
import PredicateFormat
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import StoreEngine

private typealias NSExpression = PredicateFormat.NSExpression

@Suite("Derived attributes as triggers")
struct DerivedTriggerTests {
    private func triggers(_ model: NSManagedObjectModel) throws -> String {
        let schema = SQLSchema(layout: try model.compiledLayout())
        return try schema.derivedAttributeTriggers().map(\.creation).joined(separator: "\n")
    }

    @Test("canonical: of an attribute follows the attribute")
    func canonical() throws {
        let expression = NSExpression(forFunction: "canonical:", arguments: [NSExpression(forKeyPath: "name")])
        let model = makeModel(
            makeEntity(
                "Item", makeAttribute("name", .stringAttributeType),
                makeDerived("key", .stringAttributeType, expression)))
        #expect(
            try triggers(model) == """
                CREATE TRIGGER Z_DA_ZITEM_Item_key_INSERT AFTER INSERT ON ZITEM FOR EACH ROW BEGIN \
                UPDATE ZITEM SET ZKEY = NSCoreDataCanonical(ZNAME) WHERE Z_PK = NEW.Z_PK; \
                SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZITEM', Z_ENT, Z_PK, 'key', ZKEY) FROM ZITEM \
                WHERE Z_PK = NEW.Z_PK; END
                CREATE TRIGGER Z_DA_ZITEM_Item_key_UPDATE AFTER UPDATE OF ZNAME ON ZITEM FOR EACH ROW BEGIN \
                UPDATE ZITEM SET ZKEY = NSCoreDataCanonical(ZNAME) WHERE Z_PK = NEW.Z_PK; \
                SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZITEM', Z_ENT, Z_PK, 'key', ZKEY) FROM ZITEM \
                WHERE Z_PK = NEW.Z_PK; END
                """)
    }

    @Test("now() follows every update of the object, in a subentity only where the row is of it")
    func now() throws {
        let changed = makeDerived("changed", .dateAttributeType, NSExpression(forFunction: "now", arguments: []))
        let sub = makeEntity("Sub", changed)
        let model = makeModel(makeEntity("Base").with(sub: sub), sub)
        #expect(
            try triggers(model).contains(
                """
                CREATE TRIGGER Z_DA_ZBASE_Sub_changed_UPDATE AFTER UPDATE OF Z_OPT ON ZBASE FOR EACH ROW \
                WHEN (NEW.Z_ENT IN (2)) BEGIN UPDATE ZBASE SET ZCHANGED = NSCoreDataNow() WHERE Z_PK = NEW.Z_PK;
                """))
    }

    @Test("A value behind a to-one relationship follows the relationship and the value")
    func toOnePath() throws {
        let copied = makeDerived("ownerName", .stringAttributeType, NSExpression(forKeyPath: "owner.name"))
        let model = makeModel(
            makeEntity("Car", copied, makeToOne("owner", "Person", inverse: "cars")),
            makeEntity(
                "Person", makeAttribute("name", .stringAttributeType), makeToMany("cars", "Car", inverse: "owner")))
        #expect(
            try triggers(model) == """
                CREATE TRIGGER Z_DA_ZCAR_Car_ownerName_SOURCE_INSERT AFTER INSERT ON ZCAR FOR EACH ROW BEGIN \
                UPDATE ZCAR SET ZOWNERNAME = (SELECT ZNAME FROM ZPERSON WHERE Z_PK = NEW.ZOWNER) WHERE Z_PK = NEW.Z_PK; \
                SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZCAR', Z_ENT, Z_PK, 'ownerName', ZOWNERNAME) \
                FROM ZCAR WHERE Z_PK = NEW.Z_PK; END
                CREATE TRIGGER Z_DA_ZCAR_Car_ownerName_SOURCE_UPDATE AFTER UPDATE OF ZOWNER ON ZCAR FOR EACH ROW BEGIN \
                UPDATE ZCAR SET ZOWNERNAME = (SELECT ZNAME FROM ZPERSON WHERE Z_PK = NEW.ZOWNER) WHERE Z_PK = NEW.Z_PK; \
                SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZCAR', Z_ENT, Z_PK, 'ownerName', ZOWNERNAME) \
                FROM ZCAR WHERE Z_PK = NEW.Z_PK; END
                CREATE TRIGGER Z_DA_ZPERSON_Car_ownerName_PARAMETER_INSERT AFTER INSERT ON ZPERSON FOR EACH ROW BEGIN \
                UPDATE ZCAR SET ZOWNERNAME = NEW.ZNAME WHERE ZOWNER = NEW.Z_PK; \
                SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZCAR', Z_ENT, Z_PK, 'ownerName', ZOWNERNAME) \
                FROM ZCAR WHERE ZOWNER = NEW.Z_PK; END
                CREATE TRIGGER Z_DA_ZPERSON_Car_ownerName_PARAMETER_UPDATE AFTER UPDATE OF ZNAME ON ZPERSON \
                FOR EACH ROW BEGIN UPDATE ZCAR SET ZOWNERNAME = NEW.ZNAME WHERE ZOWNER = NEW.Z_PK; \
                SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZCAR', Z_ENT, Z_PK, 'ownerName', ZOWNERNAME) \
                FROM ZCAR WHERE ZOWNER = NEW.Z_PK; END
                """)
    }

    @Test("@sum of a to-many relationship is computed anew for the old and the new object")
    func sum() throws {
        let total = makeDerived("total", .doubleAttributeType, NSExpression(forKeyPath: "items.@sum.price"))
        let model = makeModel(
            makeEntity("Cart", total, makeToMany("items", "Item", inverse: "cart")),
            makeEntity(
                "Item", makeAttribute("price", .doubleAttributeType), makeToOne("cart", "Cart", inverse: "items")))
        let text = try triggers(model)
        let old = "WHEN (OLD.ZCART NOT NULL AND OLD.ZCART IS NOT NEW.ZCART)"
        #expect(text.contains("AFTER UPDATE OF ZCART, ZPRICE ON ZITEM FOR EACH ROW \(old)"))
        #expect(text.contains("(SELECT IFNULL(SUM(ZPRICE), 0) FROM ZITEM WHERE ZCART = OLD.ZCART)"))
    }

    @Test("@sum, where many objects change, has a trigger that collects each object once, and only keys")
    func collecting() throws {
        let total = makeDerived("total", .doubleAttributeType, NSExpression(forKeyPath: "items.@sum.price"))
        let model = makeModel(
            makeEntity("Cart", total, makeToMany("items", "Item", inverse: "cart")),
            makeEntity(
                "Item", makeAttribute("price", .doubleAttributeType), makeToOne("cart", "Cart", inverse: "items")))
        let schema = SQLSchema(layout: try model.compiledLayout())
        #expect(
            try schema.derivedAttributeTriggers().first?.temporaryCreation == """
                CREATE TEMP TRIGGER Z_DA_ZITEM_Cart_total_PARAMETER_INSERT AFTER INSERT ON ZITEM FOR EACH ROW \
                WHEN (NEW.ZCART NOT NULL) BEGIN INSERT INTO PippinKeys_aggregate_1_0 (Z_PK) SELECT NEW.ZCART \
                WHERE NEW.ZCART = CAST(NEW.ZCART AS INTEGER) ON CONFLICT DO NOTHING; END
                """)
    }

    @Test("What no trigger can compute is refused by name")
    func refused() throws {
        let model = makeModel(
            makeEntity("Item", makeDerived("bad", .stringAttributeType, NSExpression(forKeyPath: "a.b.c"))))
        let error = #expect(throws: NSError.self) { _ = try triggers(model) }
        #expect(error?.localizedDescription.contains("“Item.bad”") == true)
    }
}
