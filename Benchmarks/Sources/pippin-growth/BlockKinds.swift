import Pippin

/// Blocks, in which reading and writing take turns.
let blockKinds = [
    Kind(
        "blocks: save one by one",
        waiting: { trial in
            let manager = cities(trial)
            let size = trial.size
            try await manager.load()
            try await trial.measure {
                try await manager.write { store in for number in 0..<size { try store.save(City.make(number)) } }
            }
        }),
    Kind(
        "blocks: find and save, one by one",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            let size = trial.size
            try await trial.measure {
                try await manager.write { store in
                    for number in 0..<size {
                        guard var city = try store.find(City.self, id: number) else { continue }
                        city.people += 1
                        try store.save(city)
                    }
                }
            }
        }),
    Kind(
        "blocks: save and count a hundredth of the times",
        waiting: { trial in
            let manager = cities(trial)
            let size = trial.size
            try await manager.load()
            try await trial.measure {
                try await manager.write { store in
                    for number in 0..<size {
                        try store.save(City.make(number))
                        if number % 100 == 0 { _ = try store.count(City.self, where: \.people == number * 10) }
                    }
                }
            }
        }),
    Kind(
        "blocks: save and delete in turns",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            let size = trial.size
            try await trial.measure {
                try await manager.write { store in
                    for number in 0..<size {
                        if number % 2 == 0 {
                            try store.delete(City.self, id: number)
                        } else {
                            try store.save(City.make(size + number))
                        }
                    }
                }
            }
        }),
    Kind(
        "blocks: a small one after the other beside many rows",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            try await trial.measure(500) {
                for number in 0..<500 {
                    try await manager.write { store in
                        guard var city = try store.find(City.self, id: number) else { return }
                        city.people += 1
                        try store.save(city)
                    }
                }
            }
        }),
    Kind(
        "blocks: one that reads, find by find",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            let size = trial.size
            try await trial.measure {
                try await manager.read { store in
                    for number in 0..<size { _ = try store.find(City.self, id: number) }
                }
            }
        }),
    Kind(
        "blocks: the greatest identifier before each save",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            try await trial.measure(500) {
                try await manager.write { store in
                    for _ in 0..<500 {
                        try store.save(City.make((try store.max(City.self, \.id) ?? 0) + 1))
                    }
                }
            }
        }),
    Kind(
        "blocks: the greatest identifier before each of many saves",
        waiting: { trial in
            let manager = cities(trial)
            let size = trial.size
            try await manager.load()
            try await trial.measure {
                try await manager.write { store in
                    for _ in 0..<size {
                        try store.save(City.make((try store.max(City.self, \.id) ?? 0) + 1))
                    }
                }
            }
        }),
]
