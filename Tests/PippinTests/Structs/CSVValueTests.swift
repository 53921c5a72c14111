import Testing

@testable import Pippin

@Suite("A text of a CSV file is a value as a whole, or it is refused")
struct CSVValueTests {
    private struct Sample: CoreModel {
        let id: String
        var small: Int16?
        var whole: Int?
        var unsigned: UInt8?
        var double: Double?
        var float: Float?
        var decimal: Decimal?
        var flag: Bool?
        var date: Date?
        var token: UUID?
        var page: URL?
        var bytes: Data?
        var note: String?
        var tags: [String]?
    }

    private struct Imported {
        let report: ImportReport
        let counter: Counter
        var manager: PersistenceManager { counter.manager }
        var reasons: [String] { report.refused.map(\.reason) }
    }

    private func load(_ bytes: [UInt8], ignoring: Set<String> = []) async throws -> Imported {
        let counter = try Counter(Sample.self)
        let file = counter.folder.file("samples.csv")
        try Data(bytes).write(to: file)
        let report = try await counter.manager.importCSV(Sample.self, from: file, ignoringColumns: ignoring)
        return Imported(report: report, counter: counter)
    }

    private func load(_ text: String, ignoring: Set<String> = []) async throws -> Imported {
        try await load(Array(text.utf8), ignoring: ignoring)
    }

    @Test("A column that is to be ignored is, also where the model has such a property")
    func ignored() async throws {
        let imported = try await load("id,small,note,tags\n1,70000,\"\",[1\n", ignoring: ["small", "note", "tags"])
        #expect(imported.reasons.isEmpty)
        let found = try await imported.manager.fetch(Sample.self)
        #expect(found.map(\.id) == ["1"])
        #expect(found.first?.small == nil)
        #expect(found.first?.note == nil)
    }

    private static let refused: [(String, [String])] = [
        ("small", ["70000", "32768", "-32769", "1.0", "1e3", "9abc", "-", "0x10", " 5", "5 ", "1,5", "١", "NaN"]),
        ("whole", ["9223372036854775808", "1.5", "0b1", "1_000", "--1"]), ("unsigned", ["256", "-1"]),
        (
            "double",
            ["1,5", "9abc", "-", "0x10", "nan", "NaN", "inf", "Infinity", "1e999", "1e-999", "1e", ".", "1.2.3", "1 2"]
        ),
        ("float", ["1e39", "0x1p3", "inf"]),
        (
            "decimal",
            [
                "1,5", "9abc", "-", "0x10", "nan", "1e200", "0.123456789012345678901234567890123456789", "12 ", "",
                "1.5.5",
            ].filter { !$0.isEmpty }
        ),
        ("flag", ["2", "y", "truee", "-1"]),
        (
            "date",
            [
                "2024-05-17T08:30:00", "2024-05-17T08:30:00Zx", "2024-05-17x", "2024-02-30", "2023-02-29", "2024-13-01",
                "2024-00-10",
                "2024-05-17T25:00:00Z", "2024-05-17T08:60:00Z", "2024-5-7", "17.05.2024", "20240517",
                "2024-05-17 08:30:00Z",
            ]
        ),
        ("token", ["E621E1F8-C36C-495A-93FC-0C247A3E6E5", "E621E1F8C36C495A93FC0C247A3E6E5F", "x"]),
        ("page", ["not a url", "http://a b"]), ("bytes", ["a", "!!!!", "YWJj YWJj"]),
    ]

    @Test(
        "A text that is not a value of the column's type is refused, with line, column, text and what was expected",
        arguments: refused)
    func refusals(column: String, texts: [String]) async throws {
        let lines = texts.enumerated().map { "\($0.offset),\"\($0.element)\"" }
        let imported = try await load((["id,\(column)"] + lines).joined(separator: "\n"))
        #expect(imported.report.inserted == 0)
        #expect(imported.report.refused.map(\.position) == Array(2..<texts.count + 2))
        for (reason, text) in zip(imported.reasons, texts) {
            #expect(reason.hasPrefix("“\(column)”: “\(text)” is not what is expected: "), "\(reason)")
        }
        #expect(try await imported.manager.fetch(Sample.self).isEmpty)
    }

    @Test(
        "Dates are those that Foundation reads, before 1582, too",
        arguments: ["0001-01-01", "0000-02-29", "1500-02-29", "1582-10-04", "1582-10-05", "1582-10-15", "9999-12-31"])
    func calendar(text: String) async throws {
        let date = try Date("\(text)T00:00:00Z", strategy: .iso8601)
        let imported = try await load("id,date\na,\(text)")
        #expect(imported.reasons == [])
        #expect(try await imported.manager.fetch(Sample.self).first?.date == date)
    }

    @Test("Values are taken with all their digits")
    func values() async throws {
        let imported = try await load(
            """
            id,small,whole,unsigned,double,float,decimal,flag,date,token,page,bytes
            a,-32768,9223372036854775807,255,-1.5e3,0.25,1234567.890125,YES,2024-02-29T23:59:59.5-05:30,E621E1F8-C36C-495A-93FC-0C247A3E6E5F,https://example.org/?a=b,YWJj
            b,+7,-0,0,.5,5.,-0.000,0,2024-05-17,,,
            """)
        #expect(imported.reasons == [])
        let found = try await imported.manager.fetch(Sample.self, sortedBy: .ascending(\.id))
        let first = try #require(found.first)
        #expect(first.small == -32768 && first.whole == .max && first.unsigned == 255)
        #expect(first.double == -1500 && first.float == 0.25 && first.flag == true)
        #expect(first.decimal == Decimal(string: "1234567.890125"))
        #expect(first.date == Date(timeIntervalSince1970: 1_709_271_000 - 0.5))
        #expect(first.page?.absoluteString == "https://example.org/?a=b" && first.bytes == Data("abc".utf8))
        #expect(found.last?.small == 7 && found.last?.double == 0.5 && found.last?.decimal == 0)
        #expect(found.last?.date == Date(timeIntervalSince1970: 1_715_904_000))
    }

    @Test("An empty field is not a value; in quotes it is an empty text for a String, and no value for all else")
    func emptyTexts() async throws {
        let imported = try await load("id,note,whole\na,,\nb,\"\",\"\"\n\"\",x,1\n,x,1\n")
        let found = try await imported.manager.fetch(Sample.self, sortedBy: .ascending(\.id))
        #expect(found.map(\.id) == ["", "a", "b"])
        #expect(found.map(\.note) == ["x", nil, ""])
        #expect(found.map(\.whole) == [1, nil, nil])
        #expect(imported.report.refused == [.init(position: 5, reason: "There is no value for “id”.")])
    }

    @Test("JSON in a column is reported with the column and the place in it")
    func json() async throws {
        let imported = try await load("id,tags\na,\"[\"\"x\"\", 1]\"\nb,\"[\"\"x\"\"\"\nc,\"[\"\"x\"\"]\"\n")
        #expect(imported.report.inserted == 1)
        #expect(imported.reasons.first == "“tags[1]” is not of type String.")
        #expect(imported.reasons.last?.hasPrefix("“tags”: ") == true)
    }

    @Test("Lines end with CR, LF or CRLF, also mixed; in quotes they are text", arguments: ["\n", "\r", "\r\n"])
    func lineEnds(end: String) async throws {
        let imported = try await load("id,note\(end)a,\"x\(end)y\"\(end)\(end)b,z\r\nc,9\rd,8\n", ignoring: [])
        #expect(imported.reasons == [])
        let found = try await imported.manager.fetch(Sample.self, sortedBy: .ascending(\.id))
        #expect(found.map(\.note) == ["x\(end)y", "z", "9", "8"])
    }

    @Test("Line numbers count each kind of line end once", arguments: ["\n", "\r", "\r\n"])
    func lineNumbers(end: String) async throws {
        let imported = try await load("id,whole\(end)a,\"1\"\(end)\(end)b,x\(end)\"c\(end)d\",y\(end)e,z")
        #expect(imported.report.refused.map(\.position) == [4, 5, 7])
    }

    @Test("Bytes that are not UTF-8 are refused with their column, and never mended")
    func invalidUTF8() async throws {
        let imported = try await load(Array("id,note\na,caf".utf8) + [0xE9] + Array("\nb,fine\n".utf8))
        #expect(imported.report.inserted == 1)
        #expect(imported.report.refused.map(\.position) == [2])
        #expect(imported.reasons.first?.hasPrefix("“note”: “caf") == true)
        #expect(imported.reasons.first?.contains("UTF-8") == true)
    }

    @Test("A byte order mark is not part of the header; a file in UTF-16 is refused as a whole")
    func byteOrderMarks() async throws {
        let marked = try await load([0xEF, 0xBB, 0xBF] + Array("id,whole\na,1\n".utf8))
        #expect(marked.report.inserted == 1)
        await #expect(throws: PersistenceError.self) {
            try await load([0xFF, 0xFE] + "id\na\n".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
        }
    }

    @Test("A quote without an end is reported where it began, and the other lines are read")
    func openQuote() async throws {
        let imported = try await load("id,note\na,\"x\nb,y\nc,z\n")
        #expect(imported.report.refused.map(\.position) == [2])
        #expect(
            imported.reasons.first
                == "“note”: its quote has no end; it begins in line 2, and the lines after that are read as records of their own."
        )
        #expect(try await imported.manager.fetch(Sample.self, sortedBy: .ascending(\.id)).map(\.id) == ["b", "c"])
    }

    @Test("A text that another record's quote seems to end is refused, too")
    func openQuoteBeforeAnother() async throws {
        let imported = try await load("id,note\na,\"x\nb,y\nc,\"z\"\nd,w\n")
        #expect(imported.report.refused.map(\.position) == [2])
        #expect(imported.reasons.first?.contains("text after the quote") == true)
        #expect(
            try await imported.manager.fetch(Sample.self, sortedBy: .ascending(\.id)).map(\.id) == ["b", "c", "d"])
    }

    @Test("Text behind a closing quote is refused, not joined")
    func textAfterQuote() async throws {
        let imported = try await load("id,note\na,\"x\"y\nb,5\" nails\n")
        #expect(imported.report.refused.map(\.position) == [2])
        #expect(try await imported.manager.fetch(Sample.self).map(\.note) == ["5\" nails"])
    }

    @Test("Too many and too few fields are refused")
    func fieldCounts() async throws {
        let imported = try await load("id,note\na\nb,1,2\nc,3\n")
        #expect(imported.reasons == ["It has 1 fields, not 2.", "It has 3 fields, not 2."])
        #expect(imported.report.inserted == 1)
    }

    @Test("A column that the model does not have ends the import before anything is saved, unless it is to be ignored")
    func unknownColumns() async throws {
        let text = "id,prize,note.x\na,b,c\n"
        let error = await #expect(throws: PersistenceError.self) { try await load(text) }
        guard let error, error.code == .unknownColumns, error.entity == "Sample" else {
            Issue.record("\(error as Any)"); return
        }
        #expect(error.property == "prize, note.x" && error.known.contains("note"))
        #expect(try await load("id,prize\na,b\n", ignoring: ["prize"]).report.inserted == 1)
    }

    @Test("A column that is there twice is refused")
    func doubleColumn() async throws {
        await #expect(throws: PersistenceError.self) { try await load("id,note,note\na,b,c\n") }
    }

    @Test("A column that is missing is reported for each record that needs it")
    func missingColumn() async throws {
        let imported = try await load("note\nx\n")
        #expect(imported.reasons == ["There is no value for “id”."])
    }

    @Test("JSON Lines are as strict: numbers that do not fit, bytes that are not UTF-8, and all kinds of line ends")
    func jsonLines() async throws {
        let counter = try Counter(Sample.self)
        let file = counter.folder.file("samples.jsonl")
        let lines = [
            #"{"id": "a", "small": 70000}"#, #"{"id": "b", "whole": 1.5}"#, #"{"id": "c", "double": 1e999}"#,
            #"{"id": "d", "double": NaN}"#, #"{"id": "e", "whole": "12"}"#, #"{"id": "f", "tags": ["x", 1]}"#,
            #"{"id": "g", "whole": 0x10}"#, #"{"id": "h", "note": "x"#,
            #"{"id": "i", "whole": 9223372036854775808}"#,
        ]
        var bytes: [UInt8] = [0xEF, 0xBB, 0xBF] + Array(lines.joined(separator: "\r\n").utf8)
        bytes += Array("\n{\"id\": \"j\", \"note\": \"".utf8) + [0xFF] + Array("\"}\r{\"id\": \"k\"}\n".utf8)
        try Data(bytes).write(to: file)
        let report = try await counter.manager.importJSONLines(Sample.self, from: file)
        #expect(report.refused.map(\.position) == Array(1...10))
        #expect(report.refused[5].reason == "“tags[1]” is not of type String.")
        #expect(try await counter.manager.fetch(Sample.self).map(\.id) == ["k"])
    }
}
