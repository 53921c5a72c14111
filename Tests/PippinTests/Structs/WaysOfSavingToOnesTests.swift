import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Pupil: CoreModel, Equatable {
    let id: Int
    var name: String
    var school: School?
    var mentor: Reference<Teacher>?
    var coach: Reference<Teacher>?
    var badges: [Badge]

    static var schema: Schema<Pupil> { Schema(.owns(\.badges)) }
}

private struct School: CoreModel, Equatable {
    let id: String
    var name: String
    var city: City
}

private struct City: CoreModel, Equatable {
    let id: Int
    var name: String
}

private struct Teacher: CoreModel, Equatable {
    let id: String
    var name: String
}

private struct Badge: CoreModel, Equatable {
    let id: Int
    var label: String
    var giver: Reference<Teacher>?
}

@Suite("Saving models that lead to others as rows, and as objects of a context")
struct WaysOfSavingToOnesTests {
    private let stores: BothWays

    init() throws {
        stores = try BothWays {
            PersistenceManager(models: Pupil.self, School.self, City.self, Teacher.self, store: $0)
        }
        try stores.save((0..<6).map { Teacher(id: "t\($0)", name: "Teacher \($0)") })
    }

    @Test(
        "leave the same rows, keys, versions and changes behind, whatever they lead to",
        arguments: 1...BothWays.series)
    func random(seed: UInt64) throws {
        var random = Steps(seed: seed)
        var known: [Pupil] = []
        for step in 1...12 {
            let changed = random.pupils(known)
            try stores.save(changed)
            for pupil in changed {
                known.removeAll { $0.id == pupil.id }
                known.append(pupil)
            }
            #expect(try stores.contentOfRows() == stores.contentOfObjects(), "step \(step)")
            let stored = try stores.rows.readAndWait { try $0.fetch(Pupil.self, sortedBy: .ascending(\.id)) }
            let mentors = stored.map { $0.mentor?.id }
            #expect(mentors == known.sorted { $0.id < $1.id }.map { $0.mentor?.id }, "step \(step)")
        }
    }

    private func pupil(_ id: Int, mentor: String?, school: School? = nil, badges: [Badge] = []) -> Pupil {
        Pupil(
            id: id, name: "Pupil", school: school, mentor: mentor.map { Reference(id: $0) }, coach: nil, badges: badges)
    }

    @Test("goes as rows: new models, other destinations, none, and what owned models refer to")
    func asRows() throws {
        let school = School(id: "s", name: "School", city: City(id: 1, name: "City"))
        let other = School(id: "o", name: "Other", city: City(id: 1, name: "City"))
        let badge = Badge(id: 1, label: "swims", giver: Reference(id: "t1"))
        let isRows = try stores.goesAsRows { manager in
            try manager.writeAndWait { try $0.save([pupil(1, mentor: "t0", school: school, badges: [badge])]) }
            try manager.writeAndWait { try $0.save([pupil(1, mentor: "t2", school: other, badges: [badge])]) }
            try manager.writeAndWait { try $0.save([pupil(1, mentor: nil, badges: [badge]), pupil(2, mentor: "t0")]) }
        }
        #expect(isRows == [true, true, true])
        let store = stores.file
        #expect(
            try plainNumber("SELECT COUNT(*) FROM ZPUPIL WHERE ZMENTOR IS NULL AND ZSCHOOL IS NULL", in: store) == 1)
        // Made, come to, left, come to again; and the one in between: come to and left.
        #expect(
            try plainRows("SELECT ZID, Z_OPT FROM ZTEACHER WHERE ZID IN ('t0', 't2') ORDER BY ZID", in: store)
                == [["t0", "4"], ["t2", "3"]])
    }

    @Test("A reference to nothing is the same error, with nothing saved")
    func missing() throws {
        for isDirect in [true, false] {
            let error = #expect(throws: PersistenceError.self) {
                try stores.rows.writeAndWait { store in
                    store.access.savesRows = isDirect
                    try store.save([pupil(1, mentor: "t0"), pupil(2, mentor: "nobody")])
                }
            }
            #expect(error?.code == .missingReference)
            #expect(error?.entity == "Pupil" && error?.property == "mentor")
        }
        #expect(try plainNumber("SELECT COUNT(*) FROM ZPUPIL", in: stores.file) == 0)
        #expect(try plainNumber("SELECT COUNT(*) FROM ZTEACHER WHERE Z_OPT > 1", in: stores.file) == 0)
    }

    @Test("What was saved unchanged writes nothing, neither models nor what they lead to")
    func unchanged() throws {
        let school = School(id: "s", name: "School", city: City(id: 1, name: "City"))
        let pupils = (0..<200).map { pupil($0, mentor: "t\($0 % 6)", school: school) }
        try stores.save(pupils)
        let before = try stores.contentOfRows()
        #expect(try stores.goesAsRows { try $0.writeAndWait { try $0.save(pupils) } }.isEmpty)
        #expect(try stores.contentOfRows() == before)
    }
}

/// Made-up saves, the same for each seed.
private struct Steps {
    private var numbers: SeededNumbers
    private var nextBadge = 0

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

    private mutating func number(_ count: Int) -> Int { numbers.next(below: count) }

    private mutating func teacher() -> Reference<Teacher>? {
        number(4) == 0 ? nil : Reference(id: "t\(number(6))")
    }

    /// Some of the known pupils, changed or not, and some new ones; those of one school tell the same of it.
    mutating func pupils(_ known: [Pupil]) -> [Pupil] {
        let schools = (0..<4).map { index in
            School(
                id: "s\(index)", name: "School \(index) \(number(2))",
                city: City(id: index % 2, name: "City"))
        }
        var pupils: [Pupil] = []
        for _ in 0...number(5) {
            let former = known.isEmpty || number(3) == 0 ? nil : known[number(known.count)]
            var pupil =
                former ?? Pupil(id: number(30), name: "new", school: nil, mentor: teacher(), coach: nil, badges: [])
            if pupils.contains(where: { $0.id == pupil.id }) { continue }
            if former == nil, known.contains(where: { $0.id == pupil.id }) { continue }
            if number(3) == 0 { pupil.name = "name \(number(3))" }
            if number(2) == 0 || pupil.school != nil {
                pupil.school = number(4) == 0 ? nil : schools[number(2) == 0 ? number(4) : pupil.id % 4]
            }
            if number(3) == 0 { pupil.mentor = teacher() }
            if number(3) == 0 { pupil.coach = teacher() }
            switch number(4) {
            case 0:
                nextBadge += 1
                pupil.badges.append(Badge(id: nextBadge, label: "new", giver: teacher()))
            case 1 where !pupil.badges.isEmpty: pupil.badges[number(pupil.badges.count)].giver = teacher()
            case 2 where !pupil.badges.isEmpty: pupil.badges.removeLast()
            default: break
            }
            pupils.append(pupil)
        }
        return pupils
    }
}
