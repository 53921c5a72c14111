import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import SQLiteEngine

@Suite("Columns of other programs in a table that is made anew")
struct ForeignColumnTests {
    private let store: MigratingStore

    init() throws {
        store = try MigratingStore()
        try store.open(model("name", "old")) { $0.make("Person", ["name": "Ann"]) }
    }

    private var url: URL { store.folder.store }

    private func model(_ names: String...) -> NSManagedObjectModel {
        let person = makeEntity("Person")
        person.properties = names.map { makeAttribute($0, .stringAttributeType) }
        return makeModel(person)
    }

    private func migrate() throws { try store.open(model("name")) }

    @Test("keep what their declarations say, and their values")
    func declared() throws {
        try execute(
            "ALTER TABLE ZPERSON ADD COLUMN SYNC INTEGER NOT NULL DEFAULT 8 /* , */ CHECK (SYNC <> 3)", in: url)
        try execute("UPDATE ZPERSON SET SYNC = 9", in: url)
        try migrate()
        #expect(try plainSQL("SELECT SYNC FROM ZPERSON", in: url) == ["9"])
        try execute("INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT) VALUES (2, 1, 1)", in: url)
        #expect(try plainSQL("SELECT SYNC FROM ZPERSON WHERE Z_PK = 2", in: url) == ["8"])
        #expect(throws: (any Error).self) { try execute("UPDATE ZPERSON SET SYNC = 3", in: url) }
    }

    @Test("are computed as before, and are in their indexes")
    func computed() throws {
        try execute(
            "ALTER TABLE ZPERSON ADD COLUMN \"low, name\" TEXT GENERATED ALWAYS AS (lower(ZNAME) || ', ') VIRTUAL",
            in: url)
        try execute("CREATE INDEX MINE ON ZPERSON (\"low, name\")", in: url)
        try execute("CREATE INDEX OTHERS ON ZPERSON (lower(ZNAME))", in: url)
        try migrate()
        #expect(
            try plainSQL("SELECT \"low, name\" FROM ZPERSON INDEXED BY MINE WHERE \"low, name\" > ''", in: url) == [
                "ann, "
            ])
        #expect(
            try plainSQL("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name", in: url)
                == ["MINE", "OTHERS"])
    }

    @Test("stop the migration if they are computed from a column that is gone; the error names them")
    func gone() throws {
        try execute("ALTER TABLE ZPERSON ADD COLUMN LOW TEXT AS (lower(ZOLD))", in: url)
        let error = #expect(throws: NSError.self) { try migrate() }
        #expect(error?.code == CoreDataErrorCode.migration)
        #expect(error?.localizedDescription.contains("“LOW”") == true)
        #expect(error?.localizedRecoverySuggestion?.contains("column") == true)
        #expect(try plainSQL("SELECT ZNAME FROM ZPERSON", in: url) == ["Ann"])
    }

    @Test("stop the migration if their constraints refuse the new values; the error does not speak of equal values")
    func refusing() throws {
        try execute("ALTER TABLE ZPERSON ADD COLUMN LIM TEXT CHECK (ifnull(ZNAME, '') <> 'none')", in: url)
        try execute("UPDATE ZPERSON SET ZNAME = NULL", in: url)
        let model = model("name")
        let name = model.attribute("Person", "name")
        (name.isOptional, name.defaultValue) = (false, "none")
        let error = #expect(throws: NSError.self) { try store.open(model) }
        #expect(error?.code == CoreDataErrorCode.migration)
        #expect(
            error?.localizedDescription.contains(
                "A constraint or trigger that is not of the model does not accept the new values: CHECK constraint "
                    + "failed") == true)
        #expect(error?.localizedDescription.contains("same values") == false)
        #expect(try plainSQL("SELECT ZNAME IS NULL FROM ZPERSON", in: url) == ["1"])
    }

    @Test("are read from statements in any spelling")
    func spelling() {
        let declarations = ColumnDeclarations.read(
            "CREATE TABLE [a (b] ( Z_PK INTEGER PRIMARY KEY, -- the key, of course\n [x,y] , \"q\"\"z\" VARCHAR(3) "
                + "DEFAULT 'it''s, )' , `t`BLOB, CHECK (x > 1, 2) ) STRICT")
        #expect(declarations["Z_PK"] == "INTEGER PRIMARY KEY")
        #expect(declarations["X,Y"] == "")
        #expect(declarations["Q\"Z"] == "VARCHAR(3) DEFAULT 'it''s, )'")
        #expect(declarations["T"] == "BLOB")
    }
}
