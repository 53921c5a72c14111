/// From when numbers count, and in which unit, that are dates of another system. Pure.
package enum DateEpoch: String, CaseIterable, Sendable {
    case unix
    case unixMilliseconds = "unix-ms"
    case unixMicroseconds = "unix-us"
    case unixNanoseconds = "unix-ns"
    case coreData = "2001"
    case coreDataNanoseconds = "2001-ns"
    /// Microseconds since 1601, of WebKit and Chromium.
    case webKit = "webkit"

    /// The date of a number, in seconds since 2001.
    package func secondsSince2001(_ number: Double) -> Double {
        switch self {
        case .unix: number - 978_307_200
        case .unixMilliseconds: number / 1e3 - 978_307_200
        case .unixMicroseconds: number / 1e6 - 978_307_200
        case .unixNanoseconds: number / 1e9 - 978_307_200
        case .coreData: number
        case .coreDataNanoseconds: number / 1e9
        case .webKit: number / 1e6 - 12_622_780_800
        }
    }
}

extension DateEpoch {
    /// The epoch that a property's numbers may count from: all of them would be dates of the years that such programs
    /// wrote. Seconds are of the size of other numbers, so that the name has to speak of time, too.
    ///
    /// - Parameters:
    ///   - name: the property's name.
    ///   - least: the least of its numbers, without zeros.
    ///   - greatest: the greatest.
    /// - Returns: the epoch; nil if none is likely.
    static func suggestion(for name: String, from least: Double, to greatest: Double) -> DateEpoch? {
        let isTime = speaksOfTime(name)
        return likely.first { epoch, years, needsName in
            guard isTime || !needsName else { return false }
            return [least, greatest].allSatisfy { years.contains(epoch.secondsSince2001($0)) }
        }?.epoch
    }

    /// The epochs, with seconds since 2001 between which dates are likely, and whether the name has to speak of time.
    private static let likely: [(epoch: DateEpoch, years: ClosedRange<Double>, needsName: Bool)] = [
        // 1995 to 2040; nanoseconds since 1970 of these years begin where those since 2001 end.
        (.webKit, -189_302_400...1_230_768_000, false), (.unixMilliseconds, -189_302_400...1_230_768_000, false),
        (.unixMicroseconds, -189_302_400...1_230_768_000, false), (.unixNanoseconds, 94_694_400...1_230_768_000, false),
        (.coreDataNanoseconds, 157_766_400...1_009_843_200, false), (.unix, -189_302_400...1_230_768_000, true),
        (.coreData, 157_766_400...1_009_843_200, true),
    ]

    private static func speaksOfTime(_ name: String) -> Bool {
        let name = name.lowercased()
        return [
            "date", "time", "stamp", "created", "modified", "updated", "sent", "received", "visited", "last", "expir",
        ]
        .contains { name.contains($0) } && !["zone", "duration", "count"].contains { name.contains($0) }
    }
}

/// The properties that have dates as numbers: `sent=unix-ms,Visit.time=webkit`. Pure.
package struct DateEpochs: Equatable, Sendable {
    private let epochs: [String: DateEpoch]

    package init(_ epochs: [String: DateEpoch]) { self.epochs = epochs }

    /// Whether nothing is said of any property.
    var isEmpty: Bool { epochs.isEmpty }

    /// Reads the value of `--dates`.
    ///
    /// - Parameter text: properties, each with an equals sign and the name of an epoch, and commas between them.
    /// - Throws: `CommandError` that says what is wrong.
    package init(_ text: String) throws {
        var epochs: [String: DateEpoch] = [:]
        for part in text.split(separator: ",") {
            let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
            let known = DateEpoch.allCases.map(\.rawValue).joined(separator: ", ")
            guard sides.count == 2, let epoch = DateEpoch(rawValue: sides[1]) else {
                throw CommandError(
                    "“\(part)” is not a property with its epoch, such as sent=unix-ms; epochs are \(known)")
            }
            epochs[sides[0]] = epoch
        }
        self.epochs = epochs
    }

    /// The epoch of a property; nil if nothing is said of it.
    package func epoch(of property: String, in entity: String) -> DateEpoch? {
        epochs["\(entity).\(property)"] ?? epochs[property]
    }
}

/// The reason why the command cannot do what it was asked, naming what and where.
package struct CommandError: Error, Equatable {
    package let message: String
    package init(_ message: String) { self.message = message }
}
