import Foundation
import Testing

@Suite("The page on the architecture")
struct ArchitecturePageTests {
    private let page: ArchitecturePage

    init() throws { page = try ArchitecturePage() }

    @Test("names only files and folders that are there")
    func paths() throws {
        let (code, links) = try page.paths()
        #expect(code.count > 20)
        #expect(links.count > 5)
        let sources = Set(try House.files().map(\.path))
        let missing = code.filter { path in
            let file = path.hasSuffix(".swift") ? path : path + ".swift"
            let isThere = sources.contains { $0 == file || $0.hasSuffix("/" + file) }
            return !isThere && !FileManager.default.fileExists(atPath: House.root.appending(path: path).path)
        }
        #expect(missing == [])
        let broken = links.filter { path in
            let url = ArchitecturePage.folder.appending(path: path.removingPercentEncoding ?? path)
            return !FileManager.default.fileExists(atPath: url.path)
        }
        #expect(broken == [])
    }

    @Test("has a row for each folder of a target")
    func folders() {
        for (target, order) in Rooms.order where !order.isEmpty {
            let named = page.rows.filter { $0.target == target }.map(\.folder)
            #expect(named.sorted() == order.sorted(), "\(target)")
        }
    }

    @Test("says what each folder depends on: on those below it, and on others in parentheses")
    func dependencies() throws {
        let rows = page.rows.filter { $0.lower != nil }
        #expect(
            Set(rows.map(\.target)) == [
                "ModelFiles", "StoreSession", "CoreData", "Pippin", "PippinRecords", "SwiftData",
            ])
        for row in rows {
            let (place, lower) = ("\(row.target)/\(row.folder)", row.lower ?? [])
            let below = Set(try #require(Rooms.order[row.target]).prefix { $0 != row.folder })
            #expect(lower.subtracting(below) == [], "These are not below \(place)")
            #expect(row.upper == Set((Rooms.upward[place] ?? [:]).keys), "These are above \(place)")
            let found = try Dependency.all(in: row.target).filter { $0.folder == row.folder }.map(\.home)
            #expect(Set(found).subtracting(lower).subtracting(row.upper) == [], "\(place) depends on these, too")
        }
    }

    @Test("lists the pairs of folders that depend on each other")
    func circles() {
        let pairs = Rooms.upward.flatMap { place, homes in
            homes.keys.map { Set([String(place.split(separator: "/")[1]), $0]) }
        }
        #expect(page.circles == Set(pairs))
    }
}
