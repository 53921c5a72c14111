import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

/// One row of the page's tables, without the marks around code.
private typealias Row = [String]

/// The page as tables under their headings.
private enum Page {
    static func rows(from heading: String, to end: String) throws -> [Row] {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Documentation/Predicates.md").standardizedFileURL
        let text = try String(contentsOf: url, encoding: .utf8)
        let start = try #require(text.range(of: "\n## \(heading)\n")).upperBound
        let stop = try #require(text.range(of: "\n## \(end)\n")).lowerBound
        return text[start..<stop].split(separator: "\n").filter { $0.hasPrefix("| `") }.map(cells)
    }

    private static func cells(_ line: Substring) -> Row {
        let text = line.replacing("\\|", with: "\u{0}").dropFirst().dropLast()
        return text.split(separator: "|", omittingEmptySubsequences: false).map { cell in
            String(cell).replacing("\u{0}", with: "|").trimmingCharacters(in: CharacterSet(charactersIn: " `"))
        }
    }
}

@Suite("The page on predicates")
struct PredicatesPageTests {
    private let schema: SQLSchema

    init() throws { schema = try shop() }

    private func plan() throws -> FetchPlan {
        FetchPlan(entity: try #require(schema.layout.entityByName["Product"]))
    }

    private func condition(_ format: String) throws -> String {
        let prepared = try preparedPredicate(of: NSPredicate(format: format))
        let fetch = try FetchSQL(schema: schema).statement(
            plan(), result: .identifiers, predicate: prepared.skeleton, arguments: prepared.arguments)
        let text = fetch.sql.sqlite.text
        return text.range(of: " WHERE ").map { String(text[$0.upperBound...]) } ?? ""
    }

    @Test("shows the SQL that is generated")
    func sql() throws {
        let rows = try Page.rows(from: "The language", to: "Sorting")
        #expect(rows.count > 60)
        for row in rows {
            let text = try condition(row[0])
            #expect(row[3] == text, "\(row[0])")
        }
    }

    @Test("shows Swift forms of the same tree")
    func swift() throws {
        let forms = swiftForms()
        for row in try Page.rows(from: "The language", to: "Sorting") where !row[1].isEmpty {
            let form = try #require(forms[row[1]], "\(row[1])")
            let expected = NSPredicate(format: row[0])
            #expect(form == expected, "\(row[1]) is \(formatString(of: form))")
        }
    }

    @Test("says what nil means, as evaluation in memory has it")
    func meaningOfNil() throws {
        let nothing = Product()
        for row in try Page.rows(from: "The language", to: "Sorting") {
            let value = NSPredicate(format: row[0]).evaluate(with: nothing)
            #expect(row[2] == "\(value)", "\(row[0])")
        }
    }

    @Test("shows the order that is generated")
    func sorting() throws {
        let descriptors: [String: NSSortDescriptor] = [
            #"NSSortDescriptor(keyPath: \Product.stock, ascending: false)"#:
                NSSortDescriptor(keyPath: \Product.stock, ascending: false),
            #"NSSortDescriptor(SortDescriptor(\Product.stock))"#: NSSortDescriptor(SortDescriptor(\Product.stock)),
        ]
        for row in try Page.rows(from: "Sorting", to: "What a store does not run") {
            let quoted = row[0].split(separator: "\"").map(String.init)
            let keyed = NSSortDescriptor(
                key: quoted.count > 1 ? quoted[1] : nil, ascending: true,
                selector: quoted.count > 3 ? Selector(quoted[3]) : nil)
            let fetch = try FetchSQL(schema: schema).statement(
                plan(), result: .identifiers, sortTerms: sortTerms(of: [descriptors[row[0]] ?? keyed]))
            let text = fetch.sql.sqlite.text
            #expect(text.hasSuffix(" ORDER BY \(row[1])"), "\(row[0]): \(text)")
        }
    }

    @Test("lists what a store refuses, by the words of the error")
    func refusals() throws {
        let rows = try Page.rows(from: "What a store does not run", to: "Functions")
        #expect(rows.count > 10)
        for row in rows {
            let error = #expect(throws: NSError.self, "\(row[0])") { _ = try condition(row[0]) }
            #expect(
                error?.localizedDescription.contains(row[1]) == true, "\(row[0]): \(error?.localizedDescription ?? "")")
        }
    }

    @Test("lists every function that there is")
    func functions() throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Documentation/Predicates.md").standardizedFileURL
        let text = try String(contentsOf: url, encoding: .utf8)
        for function in BuiltInFunction.allCases where function != .distance {
            #expect(text.contains("`\(function.rawValue)`"), "\(function.rawValue)")
        }
    }
}
