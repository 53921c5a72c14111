import Pippin
import TestSupport
import Testing

private struct Round: CoreModel, Equatable {
    struct Watch: Codable, Equatable { var at: Date }
    let id: Int
    var at: Date
    var more: [Date]
    var watches: [Watch] = []
}

@Suite("Dates of CSV files")
struct CSVDateTests {
    private static let date = Date(timeIntervalSince1970: 1_715_934_600)

    private func imported(_ fields: String, _ dates: CSVDates) async throws -> (Round?, ImportReport) {
        let counter = try Counter(Round.self)
        let file = counter.folder.file("rounds.csv")
        try Data("id;at;more;watches\n1;\(fields)".utf8).write(to: file)
        let report = try await counter.manager.importCSV(Round.self, from: file, delimiter: ";", dates: dates)
        return (try await counter.manager.find(Round.self, id: 1), report)
    }

    @Test("are read in JSON as they are in columns of their own")
    func inJSON() async throws {
        let wanted = Round(id: 1, at: Self.date, more: [Self.date], watches: [.init(at: Self.date)])
        let seconds = "1715934600;[1715934600];\"[{\"\"at\"\": 1715934600}]\""
        #expect(try await imported(seconds, .secondsSince1970).0 == wanted)
        let text = "2024-05-17T08:30:00Z"
        let texts = "\(text);\"[\"\"\(text)\"\"]\";\"[{\"\"at\"\": \"\"\(text)\"\"}]\""
        #expect(try await imported(texts, .iso8601).0 == wanted)
        let custom = CSVDates.custom { $0 == "now" ? Self.date : nil }
        #expect(
            try await imported("now;\"[\"\"now\"\"]\";\"[{\"\"at\"\": \"\"now\"\"}]\"", custom).0 == wanted)
    }

    @Test("are refused in JSON when they are written otherwise")
    func refused() async throws {
        let (round, report) = try await imported("2024-05-17;[1715934600];[]", .iso8601)
        #expect(round == nil && report.inserted == 0)
        #expect(report.refused.first?.reason.contains("more") == true)
    }
}
