import Testing

@testable import Pippin

@Suite("Imports of CSV")
struct CSVTests {
    private struct Reading: CoreModel, Equatable, Sendable {
        enum Kind: String, Codable { case wind, rain }
        let id: Int
        var place: Place
        var kind: Kind
        var at: Date?
        var values: [Double]
        var isChecked: Bool
    }
    private struct Place: CoreModel, Equatable, Sendable {
        let id: String
        var name: String?
    }

    private func records(_ text: String) -> [[String]] { CSVRecords(Data(text.utf8)).map(\.fields) }

    @Test("take fields in quotes, with delimiters, line breaks and quotes in them")
    func parsing() {
        #expect(records("a,b\r\n1,2\n") == [["a", "b"], ["1", "2"]])
        #expect(records("\"a,\"\"b\"\"\",\"x\ny\"\n") == [["a,\"b\"", "x\ny"]])
        #expect(records("a,,\n,") == [["a", "", ""], ["", ""]])
        #expect(records("\u{FEFF}id") == [["id"]])
        #expect(records("") == [])
        #expect(CSVRecords(Data("\"x\ny\"\nz".utf8)).map(\.number) == [1, 3])
    }

    private func `import`(_ text: String) async throws -> (PersistenceManager, ImportReport, Counter) {
        let counter = try Counter(Reading.self)
        let file = counter.folder.file("readings.csv")
        try Data(text.utf8).write(to: file)
        let progress = Progress(totalUnitCount: -1)
        let report = try await counter.manager.importCSV(
            Reading.self, from: file, delimiter: ";", batchSize: 2, progress: progress)
        #expect(progress.isFinished)
        return (counter.manager, report, counter)
    }

    @Test("refuse a file that does not even name its columns; without rows, it has no models")
    func emptyFile() async throws {
        for text in ["", "\n\r\n", "\u{FEFF}"] {
            let error = await #expect(throws: PersistenceError.self) { try await `import`(text) }
            #expect(error?.code == .fileNotReadable)
            #expect(error?.description.contains("empty") == true)
        }
        let (_, report, _) = try await `import`("id;place.id;place.name;kind;at;values;isChecked\n")
        #expect(report.inserted == 0)
        #expect(report.refused.isEmpty)
    }

    @Test("make models of rows, with the models in them, and lists as JSON")
    func models() async throws {
        let text = """
            id;place.id;place.name;kind;at;values;isChecked
            1;bath;Bath;rain;2024-05-17T08:30:00Z;[1, 2.5];true
            2;bath;Bath;wind;2024-05-17;[];no
            3;york;;wind;;[];0
            """
        let (manager, report, counter) = try await `import`(text)
        #expect(report.inserted == 3)
        let found = try await manager.fetch(Reading.self, sortedBy: .ascending(\.id))
        let bath = Place(id: "bath", name: "Bath")
        #expect(
            found.first
                == Reading(
                    id: 1, place: bath, kind: .rain, at: Date(timeIntervalSince1970: 1_715_934_600), values: [1, 2.5],
                    isChecked: true))
        #expect(found.map(\.place.name) == ["Bath", "Bath", nil])
        #expect(found[1].at == Date(timeIntervalSince1970: 1_715_904_000))
        #expect(try counter.number("SELECT count(*) FROM ZPLACE") == 2)
    }

    @Test("refuse rows that cannot be decoded, by line and reason, and save the others")
    func refusals() async throws {
        let text = """
            id;place.id;place.name;kind;at;values;isChecked
            one;bath;;rain;;[];true
            2;bath;;hail;;[];true
            3;bath;;rain;yesterday;[];true
            4;bath;;rain
            5;;;rain;;[];true

            6;bath;;rain;;[];true
            """
        let (manager, report, _) = try await `import`(text)
        #expect(report.inserted == 1)
        #expect(report.refused.map(\.position) == [2, 3, 4, 5, 6])
        #expect(
            report.refused[0].reason
                == "“id”: “one” is not what is expected: a whole number from \(Int.min) to \(Int.max).")
        #expect(
            report.refused[2].reason
                == "“at”: “yesterday” is not what is expected: a date such as 2024-05-17, or with a time and its zone "
                + "2024-05-17T08:30:00Z.")
        #expect(report.refused[3].reason == "It has 4 fields, not 7.")
        #expect(report.refused[4].reason == "There is no value for “place”.")
        #expect(try await manager.fetch(Reading.self).map(\.id) == [6])
    }

    @Test("report what made no difference")
    func skipped() async throws {
        let counter = try Counter(Coin.self)
        try await counter.manager.save(Coin(code: "EUR", worth: 1))
        let values = [Coin(code: "EUR", worth: 1), Coin(code: "USD", worth: 1), Coin(code: "USD", worth: 0.9)]
        let report = try await counter.manager.importModels(values)
        #expect(report.inserted == 1)
        #expect(report.unchanged == 1)
        #expect(report.superseded == 1)
        #expect(report.skipped == 2)
        #expect(report.total == 3)
        #expect(try await counter.manager.find(Coin.self, id: "USD")?.worth == 0.9)
    }

    @Test("make a struct within a struct of its columns alone, among others whose names begin as theirs do")
    func innermost() async throws {
        struct Street: Codable, Equatable {
            var name: String
        }
        struct Address: Codable, Equatable {
            var street: Street?
            var town: String?
        }
        struct Visit: CoreModel, Equatable {
            let id: Int
            var address: Address?
            var addressee: String?
        }
        let counter = try Counter(Visit.self)
        let file = counter.folder.file("visits.csv")
        let lines = [
            "id,address.street.name,address.town,addressee", "1,Gay Street,,", "2,,Bath,", "3,,,Jane", "4,\"\",,",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        #expect(try await counter.manager.importCSV(Visit.self, from: file).inserted == 4)
        let street = Address(street: Street(name: "Gay Street"))
        let noName = Address(street: Street(name: ""))
        #expect(
            try await counter.manager.fetch(Visit.self, sortedBy: .ascending(\.id)) == [
                Visit(id: 1, address: street), Visit(id: 2, address: Address(town: "Bath")),
                Visit(id: 3, addressee: "Jane"), Visit(id: 4, address: noName),
            ])
    }

    @Test("make a required struct of empty columns if it requires no values")
    func emptyStruct() async throws {
        struct Marks: Codable, Equatable {
            var color: String?
            var size: Int?
        }
        struct Size: Codable, Equatable {
            var width: Int
        }
        struct Parcel: CoreModel, Equatable {
            let id: Int
            var marks: Marks
            var size: Size
        }
        let counter = try Counter(Parcel.self)
        let file = counter.folder.file("parcels.csv")
        let lines = ["id,marks.color,marks.size,size.width", "1,,,2", "2,red,,2", "3,red,,"]
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        let report = try await counter.manager.importCSV(Parcel.self, from: file)
        #expect(report.refused == [.init(position: 4, reason: "“size” has no value for “width”.")])
        #expect(
            try await counter.manager.fetch(Parcel.self, sortedBy: .ascending(\.id)) == [
                Parcel(id: 1, marks: Marks(), size: Size(width: 2)),
                Parcel(id: 2, marks: Marks(color: "red"), size: Size(width: 2)),
            ])
    }

    @Test("refuse columns that are too deep within others")
    func depth() async throws {
        struct Parcel: CoreModel {
            let id: Int
            var labels: [String: String]?
        }
        let column = "labels" + String(repeating: ".x", count: 100_000)
        let counter = try Counter(Parcel.self)
        let file = counter.folder.file("parcels.csv")
        try Data("id,\(column)\n1,2".utf8).write(to: file)
        let error = await #expect(throws: PersistenceError.self) {
            try await counter.manager.importCSV(Parcel.self, from: file)
        }
        #expect(error?.code == .unknownColumns)
    }

    @Test("need a delimiter of a single character")
    func delimiter() async throws {
        let counter = try Counter(Coin.self)
        await #expect(throws: PersistenceError.noDelimiter("…")) {
            try await counter.manager.importCSV(Coin.self, from: counter.file, delimiter: "…")
        }
    }
}
